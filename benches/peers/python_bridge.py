"""The Python peer: the same bridge on the PyPI package `mcp` 1.x and asyncio.

    python_bridge.py SOCKET SCHEMA

A stdio MCP server made of `Server` and `stdio_server`, with one Unix connection to the host that
is made at the first call and kept. It leaves out what a bridge need not do: arguments are not
validated (the host does that), and nothing is logged.
"""

import asyncio
import json
import sys
from pathlib import Path

from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, TextContent, Tool

MAX_MESSAGE = 10_485_760


class Host:
    """The connection to the process that owns the tools: one call at a time."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._turn = asyncio.Lock()
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, name: str, arguments: dict) -> dict:
        params = {"name": name, "arguments": arguments}
        request = {"method": "call_tool", "params": params}
        payload = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
        check_size(len(payload))
        async with self._turn:
            if self._streams is None:
                self._streams = await asyncio.open_unix_connection(
                    self._socket, limit=MAX_MESSAGE
                )
            reader, writer = self._streams
            writer.writelines((len(payload).to_bytes(4, "big"), payload))
            await writer.drain()
            size = int.from_bytes(await reader.readexactly(4), "big")
            check_size(size)
            answer = await reader.readexactly(size)
        return json.loads(answer)


def check_size(size: int) -> None:
    if size > MAX_MESSAGE:
        raise ValueError(f"a message of {size} bytes is over the limit of {MAX_MESSAGE}")


def read_tools(path: str) -> list[Tool]:
    return [
        Tool(
            name=entry["name"],
            description=entry["description"],
            inputSchema=entry["input_schema"],
        )
        for entry in json.loads(Path(path).read_bytes())
    ]


async def main(socket: str, schema: str) -> None:
    tools = read_tools(schema)
    host = Host(socket)
    server: Server = Server("bridge")

    @server.list_tools()
    async def list_tools() -> list[Tool]:
        return tools

    @server.call_tool(validate_input=False)
    async def call_tool(name: str, arguments: dict) -> CallToolResult:
        answer = await host.call(name, arguments)
        if "error" in answer:
            text = f"{answer['error']['type']}: {answer['error']['message']}"
            return CallToolResult(content=[TextContent(type="text", text=text)], isError=True)
        return CallToolResult.model_validate(answer["result"])

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main(*sys.argv[1:]))
