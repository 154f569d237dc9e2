"""The peer of the model: the PyPI package `claude-agent-sdk`, with a tool of this process.

    agent_sdk.py FOLDER PROMPT ANSWER

For each line on stdin, which names a CLI, it asks once and prints how many nanoseconds it took
from the call of `query` to its end. The CLI works in FOLDER and inherits the environment.
"""

import asyncio
import sys
import time

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ResultMessage,
    create_sdk_mcp_server,
    query,
    tool,
)

SERVER = "callgate"


@tool("echo", "Says it again.", {"text": str})
async def echo(arguments: dict) -> dict:
    return {"content": [{"type": "text", "text": arguments["text"]}]}


TOOLS = create_sdk_mcp_server(SERVER, tools=[echo])


def options(cli: str, folder: str) -> ClaudeAgentOptions:
    return ClaudeAgentOptions(
        cli_path=cli,
        cwd=folder,
        mcp_servers={SERVER: TOOLS},
        allowed_tools=[f"mcp__{SERVER}__echo"],
        # As the CLI has it unasked.
        system_prompt={"type": "preset", "preset": "claude_code"},
        strict_mcp_config=True,
    )


async def ask(prompt: str, settings: ClaudeAgentOptions) -> str | None:
    answer = None
    async for message in query(prompt=prompt, options=settings):
        if isinstance(message, ResultMessage):
            answer = message.result
    return answer


async def main(folder: str, prompt: str, expected: str) -> None:
    while line := sys.stdin.readline():
        settings = options(line.rstrip("\n"), folder)
        begin = time.perf_counter_ns()
        answer = await ask(prompt, settings)
        took = time.perf_counter_ns() - begin
        if answer != expected:
            raise ValueError(f"the answer is {answer!r}")
        print(took, flush=True)


asyncio.run(main(*sys.argv[1:]))
