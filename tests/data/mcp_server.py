"""A small MCP server on stdio for tests: it does what servers seldom do on purpose."""

import json
import os
import sys
import threading

lock = threading.Lock()
extra = False
cancelled = {}


def send(message):
    with lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def tool(name, description="", **more):
    schema = {"type": "object", "properties": {"text": {"type": "string", "x-note": "kept"}}}
    return {"name": name, "description": description, "inputSchema": schema} | more


def tools():
    known = [
        tool("echo", "Returns its text.", annotations={"readOnlyHint": True}),
        tool("picture"),
        tool("progress"),
        tool("hang"),
        tool("die"),
        tool("pid"),
        tool("grow"),
        tool("environment"),
    ]
    if os.environ.get("ODD_TOOLS"):
        query = {"type": "object", "properties": {"$filter": {"type": "string"}}, "required": ["$filter"]}
        known += [tool("query", inputSchema=query)]
        broken = {"type": "object", "properties": {"text": {"type": "anything"}}}
        known += [tool("broken", inputSchema=broken)]
    return known + ([tool("more")] if extra else [])


def text(text, is_error=False):
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def call(id, params):
    global extra
    name, arguments = params["name"], params.get("arguments") or {}
    if name == "echo":
        return text(arguments.get("text", ""))
    if name == "picture":
        image = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="}
        return {"content": [{"type": "text", "text": "look"}, image]}
    if name == "query":
        return text(json.dumps(arguments))
    if name == "progress":
        token = params["_meta"]["progressToken"]
        params = {"progressToken": token, "progress": 1, "total": 2, "message": "half way"}
        send({"method": "notifications/progress", "params": params})
        return text("done")
    if name == "hang":
        with open(arguments["text"], "w") as file:
            file.write("begun\n")
        cancelled[id] = arguments["text"]
        return None
    if name == "die":
        os._exit(3)
    if name == "pid":
        return text(str(os.getpid()))
    if name == "grow":
        extra = True
        send({"method": "notifications/tools/list_changed"})
        return text("grown")
    if name == "more":
        return text("more")
    if name == "environment":
        return text(json.dumps(dict(os.environ)))
    return text("unknown", True)


def main():
    # What is no message is skipped by the client.
    print("starting", flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        id, method = message.get("id"), message.get("method")
        if method == "initialize":
            result = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "test", "version": "1"},
            }
            send({"id": id, "result": result})
        elif method == "tools/list":
            send({"id": id, "result": {"tools": tools()}})
        elif method == "tools/call":
            result = call(id, message["params"])
            if result is not None:
                send({"id": id, "result": result})
        elif method == "notifications/cancelled":
            file = cancelled.get(message["params"]["requestId"])
            if file:
                with open(file, "a") as file:
                    file.write("cancelled\n")


main()
