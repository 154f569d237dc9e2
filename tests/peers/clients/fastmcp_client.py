"""The client of fastmcp, in the mode that it is told: legacy, auto or a version."""

from contextlib import asynccontextmanager

import checks
from fastmcp import Client as FastClient
from fastmcp.client.transports import StdioTransport


class Client:
    tells = True

    def __init__(self, client):
        self.client = client

    async def version(self):
        return self.client.session.protocol_version

    async def tools(self):
        listed = await self.client.list_tools_mcp()
        return [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]

    async def call(self, name, arguments, timeout=None, on_progress=None):
        result = await self.client.call_tool_mcp(name, arguments, on_progress, timeout)
        return result.model_dump(by_alias=True, exclude_none=True)


@asynccontextmanager
async def connect(facts):
    # Its process would otherwise stay for a next connection.
    server = StdioTransport(facts["command"], facts["arguments"], keep_alive=False)
    async with FastClient(server, mode=facts["mode"]) as client:
        yield Client(client)


checks.main(connect)
