// What a run shows: what the guard said, what of it reached the model, and whether that is what was expected.

import { usageOf } from './model/server.js';

/** The figures of a run. */
export function figures({ records, requests, timedOut, ran, stdout, stderr }) {
  // The log has every sighting of a call; the second one counts for nothing.
  const sighted = new Set();
  const isFirst = ({ type, session, use_id: id }) => {
    const key = id && `${type} ${session} ${id}`;
    const first = !sighted.has(key);
    if (key) sighted.add(key);
    return first;
  };
  const events = records.map(({ event, verdict }) => ({ ...event, verdict })).filter(isFirst);
  const calls = events.filter((event) => event.type === 'call');
  const main = calls.filter((call) => !call.session.includes('/'));
  const refused = (call) => ['deny', 'block', 'kill'].includes(call.verdict.verdict);
  const first = (wanted) => {
    let done = 0;
    const known = new Set();
    for (const event of events) {
      const isMain = !event.session?.includes('/');
      // What a client refuses by itself has a result and no call.
      if (isMain && (event.type === 'call' || (event.type === 'step' && !known.has(event.id)))) done += 1;
      known.add(event.id);
      if (wanted(event)) return { after: done, message: event.verdict.message, approval: event.verdict.approval };
    }
    return null;
  };
  const warned = first((event) => ['warn', 'block'].includes(event.verdict.verdict));
  const asked = first((event) => event.type === 'call' && event.verdict.verdict === 'ask');
  const stopped = first((event) => event.type === 'call' && refused(event));
  const texts = requests.map((request) => JSON.stringify(request.conversation?.turns ?? []));
  // Codex never gave its model the name that its hooks have for the shell.
  const spellings = (message) => [message, message.replaceAll('`Bash`', 'the shell tool')].map((text) => JSON.stringify(text).slice(1, -1));
  const reached = (finding) => finding && texts.some((text) => spellings(finding.message).some((message) => text.includes(message)));
  return {
    calls: calls.length,
    mainCalls: main.length,
    children: new Set(calls.map((call) => call.session).filter((session) => session.includes('/'))).size,
    steps: events.filter((event) => event.type === 'step').length,
    prompts: events.filter((event) => event.type === 'message' && !event.from).length,
    warned: warned && { ...warned, reached: Boolean(reached(warned)) },
    stopped: stopped && { ...stopped, reached: Boolean(reached(stopped)) },
    // A client that shows the question to its person gives the model other words for the same.
    asked: asked && { ...asked, reached: texts.some((text) => text.includes(`sprag approve ${asked.approval}`)) },
    ran,
    killed: events.some((event) => event.verdict.verdict === 'kill'),
    requests: requests.length,
    turns: requests.filter((request) => request.turn?.calls.length > 0).length,
    refusals: main.filter(refused).length,
    allowed: calls.filter((call) => !refused(call)).length,
    spent: sum(events.filter((event) => event.type === 'usage')),
    // What a model says to refusals is spent too.
    spentAtStop: sum(events.slice(0, events.findIndex((event) => event.type === 'call' && refused(event))).filter((event) => event.type === 'usage')),
    // What a model without tools was asked, a title for instance, is in no transcript.
    billed: bill(requests.filter((request) => request.conversation?.tools.length > 0)),
    // The gateway sees those too.
    billedInAll: bill(requests),
    sent: Math.max(0, ...requests.map((request) => request.turn?.sent ?? 0)),
    refusedByModel: requests.map((request) => request.refused).filter(Boolean),
    shown: `${stdout}${stderr}`,
    timedOut,
  };
}

/** All tokens of usage events, and their cost in millionths of a dollar; what is only reserved is not spent. */
function sum(usage) {
  const of = (key) => usage.filter((event) => !event.pending).reduce((total, event) => total + (event[key] ?? 0), 0);
  return { tokens: of('tokens') + of('cache_read_tokens'), output: of('output_tokens'), cost: of('cost_micros') };
}

/** All tokens that the model asked for. */
function bill(requests) {
  const of = (key) => requests.reduce((total, { turn }) => total + (turn ? usageOf(turn)[key] : 0), 0);
  return { tokens: of('input') + of('output') + of('cacheRead') + of('cacheWrite'), output: of('output') };
}

/** What is wrong with the figures; nothing where they are as expected. */
export function complaints(figures, expect) {
  const wrong = [];
  const want = (holds, text) => holds || wrong.push(text);
  want(!figures.timedOut, 'the client did not end');
  const prompts = expect.prompts ?? 1;
  want(figures.prompts === prompts, `${figures.prompts} prompts of a user instead of ${prompts}`);
  want(figures.refusedByModel.length === 0, `the model refused a request: ${figures.refusedByModel[0]}`);
  if (expect.shows) want(figures.shown.includes(expect.shows), `the client did not show: ${expect.shows}`);
  if (expect.mostSent) want(figures.sent <= expect.mostSent, `the model said ${figures.sent} pieces, more than ${expect.mostSent}`);
  if (expect.requests) want(figures.requests === expect.requests, `${figures.requests} requests reached the model instead of ${expect.requests}`);
  if (expect.untouched) {
    want(!figures.warned, `warned after ${figures.warned?.after}: ${figures.warned?.message}`);
    want(!figures.stopped, `stopped at ${figures.stopped?.after}: ${figures.stopped?.message}`);
  }
  if (expect.warnedBy) {
    want(figures.warned, 'never warned');
    want(!figures.warned || figures.warned.after <= expect.warnedBy, `warned only after ${figures.warned?.after}`);
    want(!figures.warned || figures.warned.reached, 'the warning did not reach the model');
  }
  if (expect.refusedBy) {
    want(figures.stopped, 'never stopped');
    want(!figures.stopped || figures.stopped.after <= expect.refusedBy, `stopped only at ${figures.stopped?.after}`);
  }
  if (expect.killed) {
    want(figures.killed, 'never killed');
    // Where a hook can end the session, the model was not asked again.
    if (expect.ends) want(figures.mainCalls === expect.refusedBy, `went on after the kill, to ${figures.mainCalls} calls`);
  }
  if (expect.billed) {
    const { spent } = figures;
    const billed = expect.billed === 'in all' ? figures.billedInAll : figures.billed;
    want(spent.tokens === billed.tokens && spent.output === billed.output, `${spent.tokens} tokens reported (${spent.output} written) instead of ${billed.tokens} (${billed.output})`);
  }
  if (expect.stopped) want(figures.stopped, 'never stopped');
  if (expect.mostAllowed) want(figures.allowed <= expect.mostAllowed, `${figures.allowed} calls were allowed, more than ${expect.mostAllowed}`);
  if (expect.mostSpent) want(figures.spentAtStop.cost <= expect.mostSpent, `${figures.spentAtStop.cost} millionths of a dollar spent before the stop`);
  if (expect.asked) {
    want(figures.asked, 'never asked');
    want(!figures.asked || figures.asked.reached, 'how to approve did not reach the model');
  }
  if (expect.ran !== undefined) want(figures.ran === expect.ran, `what was asked about ran ${figures.ran} times instead of ${expect.ran}`);
  if (expect.steps) want(figures.steps === expect.steps, `${figures.steps} results counted instead of ${expect.steps}`);
  if (expect.turns) want(figures.turns === expect.turns, `the model acted ${figures.turns} times instead of ${expect.turns}`);
  if (expect.mostRefusals) {
    want(figures.refusals <= expect.mostRefusals, `${figures.refusals} calls were refused and the turn went on, more than ${expect.mostRefusals}`);
  }
  if (expect.calls !== undefined) want(figures.calls === expect.calls, `${figures.calls} calls counted instead of ${expect.calls}`);
  if (expect.children !== undefined) {
    want(figures.children === expect.children, `${figures.children} sub-agents seen instead of ${expect.children}`);
  }
  return wrong;
}
