// The peer of the agent runtime: the same protocol on Node and the official SDK.
//
//     node_runtime.mjs FOLDER
//
// It reads requests and writes responses, a line of JSON each. The SDK has its key and its address
// from the environment; the tool sees FOLDER. It streams by `create({ stream: true })`, which takes
// less time than `messages.stream`, writes each line as it is made, and keeps the history in memory.

import { readdir } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { createInterface } from 'node:readline';
import Anthropic from '@anthropic-ai/sdk';

const ROOT = resolve(process.argv[2]);
const MOST_ROUNDS = 25;
const TOOLS = [
  {
    name: 'list_files',
    description: 'Lists the files in a folder.',
    input_schema: {
      type: 'object',
      properties: { path: { type: 'string', description: 'The folder.' } },
      required: ['path'],
    },
  },
];

const client = new Anthropic();
const began = Date.now();
let history = [];
let state = 'idle';

function send(response) {
  response.timestamp = Date.now();
  process.stdout.write(JSON.stringify(response) + '\n');
}

/** One request to the model; tokens go out as they come. Gives the message that it said. */
async function ask(id, messages) {
  const stream = await client.messages.create({
    model: process.env.ANTHROPIC_MODEL ?? 'claude-sonnet-5-5',
    max_tokens: 32000,
    messages,
    tools: TOOLS,
    stream: true,
  });
  const content = [];
  let stop = null;
  for await (const event of stream) {
    if (event.type === 'content_block_delta') {
      const block = content[event.index];
      if (event.delta.type === 'text_delta') {
        block.text += event.delta.text;
        send({ type: 'token', id, token: event.delta.text });
      } else if (event.delta.type === 'input_json_delta') {
        block.input += event.delta.partial_json;
      }
    } else if (event.type === 'content_block_start') {
      const block = event.content_block;
      content[event.index] = block.type === 'tool_use' ? { ...block, input: '' } : block;
    } else if (event.type === 'content_block_stop') {
      const block = content[event.index];
      if (block.type === 'tool_use') block.input = JSON.parse(block.input || '{}');
    } else if (event.type === 'message_delta') {
      stop = event.delta.stop_reason;
    }
  }
  return { content, stop };
}

/** Runs a tool and gives what the model reads of it. */
async function use(id, { id: toolId, name: toolName, input }) {
  send({ type: 'tool_use', id, data: { toolId, toolName, input } });
  let result, failed;
  try {
    const folder = resolve(ROOT, input.path);
    if (folder !== ROOT && !folder.startsWith(ROOT + sep)) throw new Error('outside the folder');
    const entries = await readdir(folder, { withFileTypes: true });
    result = { files: entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)) };
  } catch (error) {
    [result, failed] = [{ error: error.message }, true];
  }
  send({ type: 'tool_result', id, data: { toolId, toolName, result } });
  return { type: 'tool_result', tool_use_id: toolId, content: JSON.stringify(result), is_error: failed };
}

async function answer({ id, message }) {
  const messages = [...history, { role: 'user', content: message }];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { content, stop } = await ask(id, messages);
    messages.push({ role: 'assistant', content });
    if (stop !== 'tool_use') {
      history = messages;
      return send({ type: 'done', id });
    }
    const uses = content.filter((block) => block.type === 'tool_use');
    messages.push({ role: 'user', content: await Promise.all(uses.map((block) => use(id, block))) });
  }
  send({ type: 'error', id, error: 'the model used tools too often' });
}

async function handle(request) {
  const { id, kind } = request;
  if (kind === 'user_message') {
    state = 'busy';
    await answer(request).catch((error) => send({ type: 'error', id, error: error.message }));
    state = 'idle';
  } else if (kind === 'clear_history') {
    history = [];
    send({ type: 'done', id });
  } else if (kind === 'get_status') {
    const data = { state, conversationLength: history.length, uptime: Date.now() - began };
    send({ type: 'status', id, data });
  } else {
    send({ type: 'error', id, error: `unknown kind: ${kind}` });
  }
}

const lines = createInterface({ input: process.stdin, terminal: false });
lines.on('line', (line) => {
  if (line.trim() === '') return;
  try {
    handle(JSON.parse(line));
  } catch (error) {
    console.error('not a request:', error.message);
  }
});
send({ type: 'ready', version: '1.0.0', capabilities: ['streaming', 'tools'] });
