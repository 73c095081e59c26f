// Requests by cpp-httplib; the server's messages sorted by what can be done about them.
#include "store/client.h"

#include <fmt/format.h>
#include <httplib.h>

#include <charconv>
#include <chrono>
#include <utility>

#include "store/gzip.h"

namespace osler::store {
namespace {

constexpr std::chrono::seconds kConnect{5};
constexpr std::chrono::seconds kAnswer{120};

bool is_one_of(int code, std::initializer_list<int> codes) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

/// The first sentence of a server's message, without its number and the address it was sent from.
std::string brief(std::string_view message) {
  constexpr std::size_t kLongest = 300;
  for (const std::string_view opening : {"DB::Exception: ", "Exception: "}) {
    if (const std::size_t at = message.find(opening); at != std::string_view::npos) {
      message.remove_prefix(at + opening.size());
      break;
    }
  }
  message = message.substr(0, message.find(", e.what()"));
  message = message.substr(0, message.find('\n'));
  return std::string(message.substr(0, kLongest));
}

Error refusal(int status, std::string_view message, const std::string& where) {
  const int code = server_code(message);
  // The names of these numbers: UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD, IP_ADDRESS_NOT_ALLOWED,
  // AUTHENTICATION_FAILED, and then ACCESS_DENIED, READONLY, DATABASE_ACCESS_DENIED.
  if (status == 401 || is_one_of(code, {192, 193, 194, 195, 516})) {
    return {ErrorCode::invalid_argument,
            "the store does not let this user in with this password (OSLER_STORE_PASSWORD or --password-file)", where};
  }
  if (is_one_of(code, {164, 291, 497})) {
    return {ErrorCode::invalid_argument, "the store does not allow this user to do that: " + brief(message), where};
  }
  // UNKNOWN_TABLE, UNKNOWN_DATABASE; NO_SUCH_COLUMN_IN_TABLE, UNKNOWN_IDENTIFIER, NOT_FOUND_COLUMN_IN_BLOCK.
  if (is_one_of(code, {60, 81})) {
    return {ErrorCode::not_found, "there are no tables of Osler yet: osler store init makes them", where};
  }
  if (is_one_of(code, {16, 47, 10})) {
    return {ErrorCode::not_found,
            "its tables are of another version: osler store init brings them up to date (" + brief(message) + ")",
            where};
  }
  // NOT_ENOUGH_SPACE, and what write(2) says.
  if (code == 243 || message.find("No space left on device") != std::string_view::npos) {
    return {ErrorCode::io, "the disk of the store is full", where};
  }
  // Too many parts or queries, out of memory, shutting down, no replica: passing. So is what has no number of its own.
  if (is_one_of(code, {202, 241, 242, 252, 254, 209, 210, 279, 319, 236, 999, 225, 159}) || status == 502 ||
      status == 503) {
    return {ErrorCode::io, "the store cannot take it now: " + brief(message), where};
  }
  return {ErrorCode::internal, fmt::format("the store answered: {} (status {})", brief(message), status), where};
}

std::string reason(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection:
    case httplib::Error::ConnectionTimeout:
      return "nobody answers at this address";
    case httplib::Error::Read:
    case httplib::Error::Write:
      return "the connection was closed";
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLLoadingCerts:
    case httplib::Error::SSLServerVerification:
      return "no secure connection could be made: the certificate is not trusted, or the port speaks no TLS";
    default:
      return httplib::to_string(error);
  }
}

/// A field of a TabSeparated row as it was.
std::string plain(std::string_view field) {
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\' || i + 1 == field.size()) {
      out += field[i];
      continue;
    }
    switch (const char c = field[++i]) {
      case 't':
        out += '\t';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case '0':
        out += '\0';
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

int server_code(std::string_view message) {
  constexpr std::string_view kOpening = "Code: ";
  const std::size_t at = message.find(kOpening);
  if (at == std::string_view::npos) return 0;
  message.remove_prefix(at + kOpening.size());
  int code = 0;
  std::from_chars(message.data(), message.data() + message.size(), code);
  return code;
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string listed(const std::vector<std::uint64_t>& numbers) {
  return numbers.empty() ? "0" : fmt::format("{}", fmt::join(numbers, ", "));
}

Rows split_rows(std::string_view text) {
  Rows rows;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    Row& row = rows.emplace_back();
    for (;;) {
      const std::size_t tab = line.find('\t');
      row.push_back(plain(line.substr(0, tab)));
      if (tab == std::string_view::npos) break;
      line.remove_prefix(tab + 1);
    }
  }
  return rows;
}

Result<Insert> to_insert(std::string_view table, const Block& block) {
  auto body = gzip(block.native());
  if (!body) return body.error();
  return Insert{std::string(table), block.column_list(), std::move(*body)};
}

class Client::Work {
 public:
  Work(StoreAddress address, const StoreAccess& access)
      : address_(std::move(address)), where_(fmt::format("{}:{}", address_.host, address_.port)) {
    const std::string host = address_.host.find(':') == std::string::npos ? address_.host : "[" + address_.host + "]";
    http_ = std::make_unique<httplib::Client>(
        fmt::format("{}://{}:{}", address_.secure ? "https" : "http", host, address_.port));
    http_->set_keep_alive(true);
    http_->set_tcp_nodelay(true);
    http_->set_connection_timeout(kConnect);
    http_->set_read_timeout(kAnswer);
    http_->set_write_timeout(kAnswer);
    if (!access.ca_file.empty()) http_->set_ca_cert_path(access.ca_file);
    if (access.token.empty()) {
      headers_ = {{"X-ClickHouse-User", address_.user}};
      if (!access.password.empty()) headers_.emplace("X-ClickHouse-Key", access.password);
    } else {
      headers_ = {{"Authorization", "Bearer " + access.token}};
    }
  }

  Result<std::string> post(const httplib::Params& parameters, const std::string& body, bool packed) {
    if (!http_->is_valid()) return Error{ErrorCode::invalid_argument, "the address cannot be used", where_};
    httplib::Headers headers = headers_;
    if (packed) headers.emplace("Content-Encoding", "gzip");
    // The whole answer is made before its first byte is sent, so that no error can hide behind a good status.
    httplib::Params all = parameters;
    all.emplace("wait_end_of_query", "1");
    const std::string path = httplib::append_query_params("/", all);
    httplib::Result answer = http_->Post(path, headers, body, "application/octet-stream");
    if (!answer) return Error{ErrorCode::io, "the store cannot be reached: " + reason(answer.error()), where_};
    if (answer->status != 200) return refusal(answer->status, answer->body, where_);
    return std::move(answer.value().body);
  }

  const StoreAddress address_;

 private:
  std::string where_;
  httplib::Headers headers_;
  std::unique_ptr<httplib::Client> http_;
};

Client::Client(StoreAddress address, const StoreAccess& access)
    : work_(std::make_unique<Work>(std::move(address), access)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

const StoreAddress& Client::address() const {
  return work_->address_;
}

Result<std::string> Client::ask(const std::string& sql) {
  return work_->post({{"database", work_->address_.database}}, sql, false);
}

Result<std::string> Client::ask_server(const std::string& sql) {
  return work_->post({}, sql, false);
}

Result<Rows> Client::rows(const std::string& sql) {
  const auto answer = ask(sql + " FORMAT TabSeparated");
  if (!answer) return answer.error();
  return split_rows(*answer);
}

Result<void> Client::insert(const Insert& insert) {
  // On several shards the answer must mean that the shard has the rows, not that they wait for it. A replica must not
  // pass over a block because it had the same one before: it may have been deleted since, and twice is once anyway.
  const auto answer =
      work_->post({{"database", work_->address_.database},
                   {"insert_distributed_sync", "1"},
                   {"insert_deduplicate", "0"},
                   {"query", fmt::format("INSERT INTO {} {} FORMAT Native", insert.table, insert.columns)}},
                  insert.body, true);
  if (!answer) return answer.error();
  return {};
}

}  // namespace osler::store
