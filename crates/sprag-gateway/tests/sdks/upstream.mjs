// A model API that answers each request as it was recorded, byte for byte, whoever asks. It prints its address.

import http from 'node:http';
import { fileURLToPath } from 'node:url';
import fs from 'node:fs';

const ANSWERS = JSON.parse(fs.readFileSync(fileURLToPath(new URL('answers.json', import.meta.url)), 'utf8'));

const server = http.createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  const { pathname } = new URL(request.url, 'http://upstream');
  const streams = pathname.endsWith(':streamGenerateContent') || /"stream": ?true/.test(body);
  const kind = ANSWERS.find(({ path }) => pathname.endsWith(path));
  // The last words of the user name the answer.
  const name = kind && Object.keys(kind.answers).find((name) => body.includes(`answer: ${name}`));
  const answer = kind?.answers[name];
  if (!answer) return response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"not recorded","type":"x"}}');
  const { status = 200, whole, events } = answer;
  if (!streams || !events) return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    const named = kind.named && event.type ? `event: ${event.type}\n` : '';
    response.write(`${named}data: ${data}\n\n`);
    await new Promise((go) => { setTimeout(go, 2); });
  }
  return response.end();
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
