"""What every Python client has to see. A client is an object with these members:

- ``tells`` is whether it tells the server when it gives a call up;
- ``version()``, a coroutine, gives the protocol version that was settled on;
- ``tools()``, a coroutine, gives the tools as MCP's JSON objects;
- ``call(name, arguments, timeout=None, on_progress=None)``, a coroutine, gives MCP's
  ``CallToolResult`` as JSON.

A check that fails ends the script with the reason.
"""

import asyncio
import json
import sys

# Nothing waits for it to pass: it only ends a script that hangs.
DEADLINE = 60


def same(seen, wanted):
    if seen != wanted:
        raise AssertionError(f"saw {seen!r}\nwanted {wanted!r}")


def say(**news):
    print(json.dumps(news), flush=True)


def text(result):
    return result["content"][0]["text"]


async def lists(client, facts):
    same([tool["name"] for tool in await client.tools()], facts["names"])
    same(await client.version(), facts["version"])


async def calls(client, facts):
    result = await client.call("echo", {"text": facts["odd_text"]})
    same(text(result), facts["odd_text"])
    same(result.get("isError", False), False)
    same(text(await client.call("add", {"a": 2**62, "b": 1})), str(2**62 + 1))
    result = await client.call("structured", {"x": 1, "y": -2})
    same(result["structuredContent"], {"x": -1, "y": 2})
    same(json.loads(text(result)), {"x": -1, "y": 2})


async def content(client, facts):
    words, picture = (await client.call("picture", {}))["content"]
    same(words["text"], "a pixel")
    same((picture["data"], picture["mimeType"]), (facts["pixel"], "image/png"))
    size = 5 * 1024 * 1024
    same(text(await client.call("big", {"bytes": size})), "x" * size)


async def failures(client, _facts):
    result = await client.call("fail", {"text": "no such day"})
    same(result["isError"], True)
    same(text(result), "ValueError: no such day")
    result = await client.call("add", {"a": "one", "b": 1})
    same(result["isError"], True)
    same(text(result).split(":")[0], "ToolArgumentError")


class Reports:
    """Collects progress, and knows when the last report has come."""

    def __init__(self):
        self.seen = []
        self.complete = asyncio.Event()

    async def __call__(self, progress, total, message):
        self.seen.append([progress, total, message])
        if progress == total:
            self.complete.set()


async def progress(client, _facts):
    """The tool returns only after its reports were seen here, so they came while it ran."""
    reports = Reports()
    running = asyncio.create_task(client.call("report", {}, on_progress=reports))
    await reports.complete.wait()
    same(reports.seen, [[1, 3, "one"], [2, 3, "zwei ü"], [3, 3, None]])
    await client.call("release", {})
    same(text(await running), "reported")


async def after_giving_up(client, name):
    """The next calls have to get their own answers, whatever comes of the one given up.

    A client that does not tell the server leaves the call running: whoever started this script
    then releases it, and its answer comes late."""
    label = f"after giving up {name}"
    following = asyncio.create_task(client.call("echo", {"text": label}))
    if not client.tells:
        say(gave_up=name)
    same(text(await following), label)
    same(text(await client.call("add", {"a": 20, "b": 22})), "42")


async def cancellation(client, _facts):
    reports = Reports()
    running = asyncio.create_task(client.call("report", {}, on_progress=reports))
    await reports.complete.wait()
    running.cancel()
    try:
        await running
    except asyncio.CancelledError:
        pass
    await after_giving_up(client, "report")


async def timeout(client, _facts):
    """Nobody releases the call, so the client is sure to lose its patience."""
    try:
        result = await client.call("slow", {"text": "too late"}, timeout=1)
    except Exception as error:
        if "timed out" not in str(error).lower():
            raise
    else:
        raise AssertionError(f"a call that waits for ever gave {result!r}")
    await after_giving_up(client, "slow")


async def together(client, facts):
    labels = [f"call {number}" for number in range(facts["together"])]
    results = await asyncio.gather(*(client.call("ro_wait", {"text": label}) for label in labels))
    same([text(result) for result in results], labels)


async def check(client, facts):
    for name in facts["checks"]:
        await globals()[name](client, facts)
        say(passed=name)


def main(connect):
    """Runs the checks named on the command line with ``connect(facts)``, which gives a client."""

    async def run():
        facts = json.loads(sys.argv[1])
        async with asyncio.timeout(DEADLINE), connect(facts) as client:
            await check(client, facts)

    asyncio.run(run())
