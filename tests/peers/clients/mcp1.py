"""The Python client of version 1, which knows ``initialize`` only."""

from contextlib import asynccontextmanager
from datetime import timedelta

import checks
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


class Client:
    tells = False

    def __init__(self, session, handshake):
        self.session = session
        self.handshake = handshake

    async def version(self):
        return self.handshake.protocolVersion

    async def tools(self):
        listed = await self.session.list_tools()
        return [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]

    async def call(self, name, arguments, timeout=None, on_progress=None):
        timeout = timeout and timedelta(seconds=timeout)
        result = await self.session.call_tool(name, arguments, timeout, on_progress)
        return result.model_dump(by_alias=True, exclude_none=True)


@asynccontextmanager
async def connect(facts):
    server = StdioServerParameters(command=facts["command"], args=facts["arguments"])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        yield Client(session, await session.initialize())


checks.main(connect)
