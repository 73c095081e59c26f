// Who may ask: loopback names, the token, and how they are recognised in a request.
#pragma once

#include <string>
#include <string_view>

namespace osler::server {

/// Whether only programs of this machine reach `address`.
[[nodiscard]] bool is_loopback(std::string_view address);

/// Whether a request's Host header names this machine itself. A page from elsewhere whose name was pointed at
/// 127.0.0.1 (DNS rebinding) carries its own name there.
[[nodiscard]] bool names_this_machine(std::string_view host_header);

/// Compares in a time that does not depend on where the two differ.
[[nodiscard]] bool same_secret(std::string_view a, std::string_view b);

/// The token that a request shows in its Authorization or Cookie header; empty when neither has one.
[[nodiscard]] std::string shown_token(std::string_view authorization, std::string_view cookie);

/// The name of the cookie that keeps the token.
inline constexpr std::string_view kTokenCookie = "osler-token";

/// Whether a token can be kept in a cookie and a header as it is: letters, digits and -._~ only.
[[nodiscard]] bool is_usable_token(std::string_view token);

/// Whether the Origin header of a request is this server itself, by the Host header of the same request.
[[nodiscard]] bool is_own_origin(std::string_view origin, std::string_view host_header);

/// A secret that nobody can guess.
[[nodiscard]] std::string make_secret();

}  // namespace osler::server
