"""`osler mcp`, asked by the protocol's own client library."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, Callable

import pytest
from beside import ROOT, osler_program

LOGS = ROOT / "examples" / "logs"


def _talk(folder: Path, work: Callable[[Any, dict[str, Any]], Awaitable[None]]) -> None:
    """Starts the server, greets it, and lets `work` ask."""
    mcp = pytest.importorskip("mcp", reason="the protocol's library is not installed: pip install mcp")
    from mcp.client.stdio import stdio_client

    server = mcp.StdioServerParameters(command=osler_program(), args=["mcp", "--root", str(folder)])

    async def run() -> None:
        async with stdio_client(server) as (receive, send), mcp.ClientSession(receive, send) as session:
            hello = _plain(await session.initialize())
            await work(session, hello)

    asyncio.run(asyncio.wait_for(run(), 60))


def _plain(result: Any) -> dict[str, Any]:
    """What went over the wire, whatever the library's version calls it."""
    told: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return told


async def _text(session: Any, tool: str, arguments: dict[str, Any]) -> str:
    result = _plain(await session.call_tool(tool, arguments))
    assert not result.get("isError"), result
    return str(result["content"][0]["text"])


def test_greets_and_lists() -> None:
    async def work(session: Any, hello: dict[str, Any]) -> None:
        assert hello["serverInfo"]["name"] == "osler" and hello["protocolVersion"] == "2025-06-18"
        await session.send_ping()
        tools = _plain(await session.list_tools())["tools"]
        assert {each["name"] for each in tools} == {
            "list_runs",
            "diagnose",
            "explain",
            "compare",
            "plot",
            "probe_results",
        }
        resources = _plain(await session.list_resources())
        assert resources["resources"] and resources["nextCursor"]
        assert _plain(await session.list_resource_templates())["resourceTemplates"]
        assert _plain(await session.list_prompts())["prompts"][0]["name"] == "examine-run"
        prompt = _plain(await session.get_prompt("examine-run", {"path": "runs/a"}))
        assert "runs/a" in prompt["messages"][0]["content"]["text"]

    _talk(LOGS, work)


def test_diagnoses_in_few_words_and_in_full() -> None:
    async def work(session: Any, hello: dict[str, Any]) -> None:
        assert "sick.csv (csv)" in await _text(session, "list_runs", {})
        short = await _text(session, "diagnose", {"path": "sick.csv"})
        assert "critical" in short and "since step 95" in short and "lr 10 -> 1" in short
        assert len(short) < 2500
        report = json.loads(await _text(session, "diagnose", {"path": "sick.csv", "detail": "json"}))
        assert report["status"] == "critical"
        assert "healthy" in await _text(session, "diagnose", {"path": "healthy.csv"})
        assert "step" in await _text(session, "compare", {"a": "healthy.csv", "b": "sick.csv"})
        assert "When it is harmless" in await _text(session, "explain", {"id": "overfitting"})
        assert "holds no result" in await _text(session, "probe_results", {"path": "sick.csv"})
        page = _plain(await session.read_resource("osler://cause/lr-too-high"))
        assert page["contents"][0]["text"].startswith("# ")

    _talk(LOGS, work)


def test_gives_a_plot_as_an_image() -> None:
    async def work(session: Any, hello: dict[str, Any]) -> None:
        result = _plain(await session.call_tool("plot", {"path": "sick.csv", "width": 640}))
        image = result["content"][0]
        assert image["type"] == "image" and image["mimeType"] == "image/png"
        bytes = base64.b64decode(image["data"])
        assert bytes[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(bytes[16:20], "big") == 640

    _talk(LOGS, work)


def test_tells_failures_and_goes_on(tmp_path: Path) -> None:
    async def work(session: Any, hello: dict[str, Any]) -> None:
        for tool, arguments, words in [
            ("diagnose", {"path": "/etc/passwd"}, "outside"),
            ("diagnose", {"path": "nothing.csv"}, "nothing.csv"),
            ("explain", {"id": "overfiting"}, "did you mean overfitting"),
            ("diagnose", {}, "path: is needed"),
        ]:
            result = _plain(await session.call_tool(tool, arguments))
            assert result["isError"] and words in result["content"][0]["text"]
        with pytest.raises(Exception, match="there is no such page"):
            await session.read_resource("osler://finding/nothing")
        with pytest.raises(Exception, match="there is no tool"):
            await session.call_tool("cure", {})
        await session.send_ping()

    _talk(tmp_path, work)


def _raw(*lines: bytes, folder: Path = LOGS) -> list[dict[str, Any]]:
    """What the server answers to these bytes, without any library between."""
    done = subprocess.run(
        [osler_program(), "mcp", "--root", str(folder)], input=b"\n".join(lines), capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_answers_nonsense_with_errors_and_ends_with_its_input() -> None:
    ping = b'{"jsonrpc":"2.0","id":9,"method":"ping"}'
    answers = _raw(b"nonsense", b"\xff\xfe\x00", b"{}", b"[" * 100_000, b"x" * 3_000_000, b"", ping)
    assert [each.get("error", {}).get("code") for each in answers] == [-32700, -32700, -32600, -32700, -32700, None]
    assert answers[-1] == {"jsonrpc": "2.0", "id": 9, "result": {}}


def test_refuses_a_root_that_is_not_there(tmp_path: Path) -> None:
    done = subprocess.run([osler_program(), "mcp", "--root", str(tmp_path / "nothing")], input=b"", capture_output=True)
    assert done.returncode == 2 and b"nothing" in done.stderr and not done.stdout
