#!/usr/bin/env python3
"""Offers two Python functions to an agent CLI, through the `callgate` bridge.

A parent is the process that owns the tools. It may be written in any language; this one needs
Python 3.10 and its standard library, on Linux. It shows what docs/protocol/tools.md asks of it:

- a Unix socket and a schema file with the protocol's names, mode 0600 from their first moment;
- frames of four length bytes and one JSON object, at most 10,485,760 bytes;
- one request at a time on a connection, and the end of a call whose connection is closed;
- a failed call as an error with the exception's class name, which the model gets to read;
- nothing left behind at the end, also after SIGTERM, and what a killed parent left is swept;
- arguments that do not fit their schema never reach a function.

Run it, and give the line that it prints to the agent:

    python3 parent.py --bridge target/release/callgate
    claude --mcp-config 'THE PRINTED LINE'

It checks what its own schemas use of JSON Schema: that no argument is missing or unknown, and the
types of the rest. The bridge checks all of a schema, but others may dial the socket too.
"""

import argparse
import asyncio
import inspect
import json
import os
import re
import shutil
import signal
import socket
import stat
import struct
import sys
import tempfile
import time
import uuid

MAX_MESSAGE = 10_485_760
TOOLS = {}


# The protocol's own errors: no such tool, wrong arguments, a broken message, one over the limit.
class ToolNotFoundError(Exception): pass
class ToolArgumentError(Exception): pass
class IPCError(Exception): pass
class IPCMessageSizeError(Exception): pass


def tool(description, **properties):
    """Makes a function a tool; each property is the JSON Schema of one argument."""
    def register(function):
        schema = {"type": "object", "properties": properties, "required": list(properties),
                  "additionalProperties": False}
        entry = {"name": function.__name__, "description": description, "input_schema": schema}
        TOOLS[function.__name__] = (function, entry)
        return function
    return register


@tool("Turns degrees Fahrenheit into degrees Celsius.", fahrenheit={"type": "number"})
def to_celsius(fahrenheit):
    if fahrenheit < -459.67:
        raise ValueError(f"{fahrenheit} °F is below absolute zero")
    return f"{(fahrenheit - 32) / 1.8:.1f} °C"


@tool("Rests for some seconds, then tells in which process.", seconds={"type": "number"})
async def rest(seconds):
    await asyncio.sleep(seconds)
    return f"process {os.getpid()} has rested"


# What each JSON Schema type is in Python. True and False are integers there, but not in JSON.
TYPES = {"string": str, "number": (int, float), "integer": int, "boolean": bool,
         "object": dict, "array": list, "null": type(None)}


def is_a(value, kind):
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def check(name, arguments, schema):
    """Refuses arguments that do not fit; the model reads why."""
    properties = schema["properties"]
    reasons = [f"{key!r} is missing" for key in schema["required"] if key not in arguments]
    reasons += [f"{key!r} is unknown" for key in arguments if key not in properties]
    for key, value in arguments.items():
        if key in properties and not is_a(value, properties[key]["type"]):
            reasons.append(f"{key!r} is not of type {properties[key]['type']!r}")
    if reasons:
        raise ToolArgumentError(f"the arguments of {name!r} do not fit: {'; '.join(reasons)}")


async def call(payload):
    """The outcome of one request."""
    try:
        request = json.loads(payload)
        method, params = request["method"], request.get("params")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise IPCError("the request is not a JSON message with a method") from error
    if method != "call_tool":
        raise IPCError(f"unknown method {method!r}: there is only 'call_tool'")
    match params:
        case {"name": str(name), "arguments": dict(arguments)}:
            pass
        case _:
            raise IPCError("the request's params need a name and an object of arguments")
    if name not in TOOLS:
        raise ToolNotFoundError(f"there is no tool {name!r}; the tools are: {', '.join(TOOLS)}")
    function, entry = TOOLS[name]
    check(name, arguments, entry["input_schema"])
    if inspect.iscoroutinefunction(function):
        text = await function(**arguments)
    else:
        # On a thread, so that other connections are served meanwhile.
        text = await asyncio.to_thread(function, **arguments)
    return {"result": {"content": [{"type": "text", "text": text}], "isError": False}}


def frame(message):
    # Not as ASCII: escapes would make a text in another script up to three times as long.
    payload = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    if len(payload) > MAX_MESSAGE:
        raise IPCMessageSizeError(f"the answer has {len(payload)} bytes, over {MAX_MESSAGE}")
    return struct.pack(">I", len(payload)) + payload


def failure(error):
    return frame({"error": {"message": str(error)[:10_000], "type": type(error).__name__}})


async def answer(payload):
    """The answering frame; whatever a tool raises becomes an error with its class name."""
    try:
        return frame(await call(payload))
    except Exception as error:
        return failure(error)


async def serve_one(reader, writer):
    """Serves one request; tells whether the connection can be read on."""
    (length,) = struct.unpack(">I", await reader.readexactly(4))
    if length > MAX_MESSAGE:
        error = IPCMessageSizeError(f"a message of {length} bytes is over {MAX_MESSAGE} bytes")
        writer.write(failure(error))
        return False
    running = asyncio.create_task(answer(await reader.readexactly(length)))
    early = asyncio.create_task(reader.read(1))
    try:
        await asyncio.wait({running, early}, return_when=asyncio.FIRST_COMPLETED)
        if early.done():
            if early.result():
                writer.write(failure(IPCError("a request came before the last was answered")))
            return False
        writer.write(running.result())
        await writer.drain()
        return True
    finally:
        # A call that is still running has lost its caller. (A thread runs on to its end.)
        running.cancel()
        early.cancel()
        await asyncio.wait({running, early})


async def serve(reader, writer):
    peer = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    _, uid, _ = struct.unpack("3i", peer)
    try:
        while uid == os.geteuid() and await serve_one(reader, writer):
            pass
    except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
        pass  # The bridge is gone, or we are ending.
    finally:
        writer.close()


def listen(path):
    """A socket that is its owner's alone and has its name only once it accepts connections."""
    unfinished = os.path.join(os.path.dirname(path), f".cg{uuid.uuid4().hex[:16]}")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    os.fchmod(listener.fileno(), 0o600)  # Linux gives the file the mode of the descriptor.
    listener.bind(unfinished)
    listener.listen(128)
    os.rename(unfinished, path)
    return listener


def is_dead(path, uid):
    """Tells whether a socket is ours and refuses connections: whoever served it is gone."""
    try:
        status = os.lstat(path)
        if not stat.S_ISSOCK(status.st_mode) or status.st_uid != uid:
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.setblocking(False)
            probe.connect(path)
    except ConnectionRefusedError:
        # One that is just being made refuses too, but has not had its name for long.
        is_named = not os.path.basename(path).startswith(".cg")
        return is_named or time.time() - status.st_mtime > 60
    except OSError:
        pass
    return False


def sweep(folder):
    """Removes what parents left that were killed, the schema file first."""
    for name in os.listdir(folder):
        session = re.fullmatch(r"claudecode_ipc_([0-9a-f]{32})\.sock", name)
        path = os.path.join(folder, name)
        is_ours = session or re.fullmatch(r"\.cg[0-9a-f]{16}", name)
        if not is_ours or not is_dead(path, os.geteuid()):
            continue
        if session:
            remove(os.path.join(folder, f"claudecode_ipc_schema_{session[1]}.json"))
        remove(path)


def remove(path):
    try:
        os.remove(path)
    except FileNotFoundError:
        pass  # Another parent sweeps too.


def write_schema(path):
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump([entry for _, entry in TOOLS.values()], file)


async def main(bridge):
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    session, folder = uuid.uuid4().hex, tempfile.gettempdir()
    sweep(folder)
    path = os.path.join(folder, f"claudecode_ipc_{session}.sock")
    schema = os.path.join(folder, f"claudecode_ipc_schema_{session}.json")
    try:
        server = await asyncio.start_unix_server(serve, sock=listen(path))
        write_schema(schema)
        command = {"type": "stdio", "command": bridge, "args": ["bridge", path, schema]}
        print(json.dumps({"mcpServers": {"python": command}}), flush=True)
        await stop.wait()
        server.close()
    finally:
        # The schema file goes first: a socket that nobody serves can be found and swept away.
        for file in (schema, path):
            remove(file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bridge", default="callgate", help="the callgate program")
    program = shutil.which(parser.parse_args().bridge)
    if program is None:
        sys.exit("BridgeStartupError: no callgate program was found: name it with --bridge PATH")
    asyncio.run(main(os.path.abspath(program)))
