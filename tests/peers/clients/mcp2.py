"""The Python client of version 2, in the mode that it is told: legacy, auto or a version."""

from contextlib import asynccontextmanager

import checks
import mcp
from mcp.client.stdio import stdio_client


class Client:
    tells = True

    def __init__(self, client):
        self.client = client

    async def version(self):
        return self.client.session.protocol_version

    async def tools(self):
        listed = await self.client.list_tools()
        return [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]

    async def call(self, name, arguments, timeout=None, on_progress=None):
        result = await self.client.call_tool(name, arguments, timeout, on_progress)
        return result.model_dump(by_alias=True, exclude_none=True)


@asynccontextmanager
async def connect(facts):
    server = mcp.StdioServerParameters(command=facts["command"], args=facts["arguments"])
    async with mcp.Client(stdio_client(server), mode=facts["mode"]) as client:
        yield Client(client)


checks.main(connect)
