"""An MCP server on stdio for tests that breaks its promises, in the way its argument names."""

import json
import sys
import threading
import time

WAY = sys.argv[1]
OBJECT = {"type": "object"}
listed = 0


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tool(name, schema=OBJECT):
    return {"name": name, "description": "It is a tool.", "inputSchema": schema}


def tools(params):
    """Returns the result of `tools/list`."""
    global listed
    listed += 1
    if WAY == "schemas":
        return {
            "tools": [
                tool("echo"),
                tool("bare", {}),
                tool("either", {"type": "object", "anyOf": [{"required": ["a"]}]}),
                tool("text", {"type": "string"}),
                tool("list", ["a"]),
                tool("properties", {"type": "object", "properties": "none"}),
                tool(""),
                {"description": "It has no name.", "inputSchema": OBJECT},
                tool("echo"),
                tool("echo"),
                "not a tool",
            ]
        }
    if WAY == "endless":
        return {"tools": [tool(f"echo{listed}")], "nextCursor": f"page {listed}"}
    if WAY == "restless":
        with open(sys.argv[2], "a") as file:
            file.write("listed\n")
    return {"tools": [tool(name) for name in ["echo", "huge", "odd", "half", "flood", "wait"]]}


def call(id, name, arguments):
    if name == "huge":
        send({"id": id, "result": {"content": [{"type": "text", "text": "x" * (40 << 20)}]}})
    elif name == "odd":
        # Not an answer of JSON-RPC, and then one that has no content.
        print(json.dumps({"jsonrpc": "2.0", "id": id}), flush=True)
    elif name == "half":
        sys.stdout.write('{"jsonrpc": "2.0", "id": %s, "result": {"cont' % json.dumps(id))
        sys.stdout.flush()
        sys.exit(1)
    elif name == "flood":
        for _ in range(300):
            sys.stdout.write("y" * (1 << 20))
        sys.stdout.write("\n")
        send({"id": id, "result": {"content": [{"type": "text", "text": "after the flood"}]}})
    elif name == "wait":
        time.sleep(1)
        send({"id": id, "result": {"content": [{"type": "text", "text": "waited"}]}})
    else:
        text = arguments.get("text", "")
        send({"id": id, "result": {"content": [{"type": "text", "text": text}]}})


for line in sys.stdin:
    message = json.loads(line)
    id, method = message.get("id"), message.get("method")
    if method == "initialize":
        result = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "hostile", "version": "1"},
        }
        send({"id": id, "result": result})
    elif method == "tools/list":
        send({"id": id, "result": tools(message.get("params") or {})})
        if WAY == "restless":
            send({"method": "notifications/tools/list_changed"})
        if WAY == "deaf":
            time.sleep(1000)
    elif method == "tools/call":
        params = message["params"]
        work = (id, params["name"], params.get("arguments") or {})
        if params["name"] == "wait":
            threading.Thread(target=call, args=work).start()
        else:
            call(*work)
