// What the scripted model does in each scenario, in terms that every client has: run a command, write or change a
// file, start a sub-agent, call a tool of an MCP server. A driver translates them into its client's own tools.
//
// `turns` is a list of model answers; each is a list of deeds done at once. `delayMs` is how long the model takes for an
// answer, `usage` the tokens that it says an answer took. `budget` is given to `sprag install`; every model then costs 10
// dollars a million tokens that it writes. `setup` changes what `sprag install` left behind, see play.js. `expect` says what the guard must have done: by
// when the first warning reached the model and by when calls were refused, counted in deeds of the main session, or
// that neither ever happened. `speak` is a list of answers in words alone. `prompts` are what the user writes later in the
// same session, each in a run of its own, behind one gateway. `only` names the one way in which a script is played.
// `gateway` is what is expected instead behind the gateway: a refused call that is alone in its answer ends the turn there.
// `person` is what somebody at a terminal answers to each question.

import fs from 'node:fs';

const run = (command) => ({ do: 'run', command });
const write = (path, text) => ({ do: 'write', path, text });
const change = (path, from, to) => ({ do: 'change', path, from, to });
const edit = (path, text) => ({ do: 'run', command: `cat > ${path} <<'END'\n${text}END` });
const start = (child) => ({ do: 'start', child });
const remove = (asset) => ({ do: 'remove', asset });
const find = (asset) => ({ do: 'find', asset });
const times = (count, make) => Array.from({ length: count }, (_, index) => make(index + 1));

/** A program that prints what a real test runner printed, with the times and process ids of today. */
const recorded = (name) => {
  const text = fs.readFileSync(new URL(`./outputs/${name}.txt`, import.meta.url), 'utf8');
  return `#!/bin/sh\nsed -e "s/@PID@/$$/g" -e "s/@NN@/$(date +%N | cut -c1-2)/g" <<'OUTPUT'\n${text}OUTPUT\nexit 1\n`;
};

/** Edits that are always new, and a test that always fails as before. */
const editTest = (runner) => ({
  turns: times(9, (n) => [
    [edit('total.py', `def total(items):\n    return sum(items) + ${n}\n`)],
    [run('./check')],
  ]).flat(),
  files: { check: recorded(runner) },
  expect: { warnedBy: 14, refused: 'perhaps' },
});

/** A call that a person has to approve; made again a few seconds later. */
const ask = (person, expect) => ({
  turns: [[run('./dropdb production')], [run('sleep 4; echo waited')], [run('./dropdb production')], [run('echo went on')]],
  files: { dropdb: '#!/bin/sh\necho gone >> dropped\n' },
  person,
  expect: { turns: 4, asked: true, ...expect },
  // Behind the gateway the question ends the turn, and the person answers after it.
  gateway: { turns: 1, asked: undefined, ran: 0, refusedBy: undefined, shows: 'sprag approve' },
});

export const SCRIPTS = {
  // The same call with the same answer, again and again: warned, then refused.
  loop: {
    turns: times(8, () => [run('cat status.txt')]),
    files: { 'status.txt': 'job 17 is queued\n' },
    expect: { warnedBy: 4, refusedBy: 6 },
  },

  // Asking again is right as long as something moves.
  poll: {
    turns: times(8, () => [run('./tick')]),
    files: { tick: '#!/bin/sh\necho x >> ticks; echo "built $(wc -l < ticks) of 8 modules"\n' },
    expect: { untouched: true },
  },

  // Every edit is new, the failure never is.
  'edit-test': {
    turns: times(8, (n) => [
      [edit('total.py', `def total(items):\n    return sum(items) + ${n}\n`)],
      [run('./check')],
    ]).flat(),
    files: {
      check: '#!/bin/sh\necho "FAILED test_total: assert total([]) == 0, but the answer was wrong" >&2\nexit 1\n',
    },
    expect: { warnedBy: 14, refused: 'perhaps' },
  },

  // Work that spends: what is reported is what the model asked for, to the token. At the speed of a real model: clients
  // write their transcripts a little later.
  spend: {
    delayMs: 1300,
    turns: times(6, (n) => [write(`page-${n}.txt`, `page ${n}\n`)]),
    usage: { input: 120, output: 340, cacheRead: 5000, cacheWrite: 70 },
    expect: { untouched: true, billed: true },
    gateway: { billed: 'in all' },
  },

  // The same by sub-agents.
  'spend-children': {
    delayMs: 1300,
    turns: [times(3, (n) => start(`child-${n}`))],
    children: Object.fromEntries(times(3, (n) => [`child-${n}`, [[write(`page-${n}.txt`, `page ${n}\n`)]]])),
    usage: { input: 120, output: 340, cacheRead: 5000, cacheWrite: 70 },
    expect: { untouched: true, billed: true },
    gateway: { billed: 'in all' },
  },

  // Forty cents an answer, and a dollar to spend: the third answer uses it up. Its call is refused, or the one after it if
  // the client wrote that answer into its transcript after the hook looked there.
  budget: {
    delayMs: 1300,
    turns: times(8, (n) => [write(`page-${n}.txt`, `page ${n}\n`)]),
    usage: { input: 100, output: 40_000, cacheRead: 0, cacheWrite: 0 },
    budget: '1usd',
    expect: { refusedBy: 4, mostSpent: 1_600_000 },
    // The gateway stops the request that would go over.
    gateway: { refusedBy: undefined, requests: 2, shows: 'no room for this request' },
  },

  // The same by four sub-agents at once, which share the dollar: beyond the answers that it pays for, each open session
  // may finish the one that is under way. Four starts, and answers for a dollar and for five sessions.
  'budget-children': {
    delayMs: 1300,
    turns: [times(4, (n) => start(`child-${n}`))],
    children: Object.fromEntries(times(4, (n) => [`child-${n}`, times(8, (k) => [write(`page-${n}-${k}.txt`, `page ${k}\n`)])])),
    usage: { input: 100, output: 40_000, cacheRead: 0, cacheWrite: 0 },
    budget: '1usd',
    expect: { stopped: true, mostAllowed: 4 + 2 + 5 },
    // The gateway reserves what a request may cost, so that nothing is overshot: two answers fit.
    gateway: { stopped: undefined, mostAllowed: 4 + 1, shows: 'no room for this request' },
  },

  // Many files, each with the same short acknowledgement: work.
  batch: {
    turns: times(12, (n) => [write(`page-${n}.txt`, `page ${n}\n`)]),
    expect: { untouched: true },
  },

  // Twelve sub-agents at once, each with something of its own to do.
  'sub-agents': {
    turns: [times(12, (n) => start(`child-${n}`))],
    children: Object.fromEntries(times(12, (n) => [`child-${n}`, [[run(`echo part ${n}`)]]])),
    expect: { untouched: true, children: 12 },
  },

  'edit-cargo': editTest('cargo-test'),
  'edit-pytest': editTest('pytest'),
  'edit-npm': editTest('npm-test'),

  // The same edit that can't be made, again and again. Claude Code and Codex have no usual hook for it.
  'failing-edit': {
    turns: times(9, () => [change('a.txt', 'no such line', 'x')]),
    files: { 'a.txt': 'hello\n' },
    expect: { warnedBy: 6 },
  },

  // Always another edit that can't be made.
  'failing-edits': {
    turns: times(14, (n) => [change('a.txt', `no such line ${n}`, `x${n}`)]),
    files: { 'a.txt': 'hello\n' },
    expect: { warnedBy: 12 },
  },

  // A tool of an MCP server that fails, again and again.
  'failing-mcp': {
    turns: times(9, () => [find('fact_sales')]),
    expect: { warnedBy: 6 },
  },

  // A look at many files, some of which have nothing: work.
  sweep: {
    turns: times(14, (n) => [run(`grep -n "total ${n}:" notes.txt`)]),
    files: { 'notes.txt': times(14, (n) => (n % 4 === 0 ? '' : `total ${n}: ${n * 37}\n`)).join('') },
    expect: { untouched: true },
  },

  // Twelve files in one answer.
  'twelve-at-once': {
    turns: [times(12, (n) => write(`part-${n}.txt`, `part ${n}\n`))],
    expect: { untouched: true, calls: 12 },
  },

  // Forty-one calls of test-driven work: each test fails first, then passes.
  tdd: {
    turns: [
      [run('ls')],
      ...times(10, (n) => [
        [edit(`test_${n}.py`, `assert area(${n}) == ${n * n}\n`)],
        [run(`./tests ${n} red`)],
        [edit('area.py', `def area(n):\n    return n * n  # step ${n}\n`)],
        [run(`./tests ${n} green`)],
      ]).flat(),
    ],
    files: { tests: '#!/bin/sh\nif [ $2 = red ]; then echo "$1 tests, 1 failed: area($1) is not defined for $1"; exit 1; fi\necho "$1 tests passed"\n' },
    expect: { untouched: true, calls: 41 },
  },

  // Ten clean builds, each after a change.
  builds: {
    turns: times(10, (n) => [[edit('main.c', `int main(void) { return ${n}; }\n`)], [run('make -s all')]]).flat(),
    files: { Makefile: 'all:\n\t@echo "cc -o main main.c"; echo "build finished"\n' },
    expect: { untouched: true, calls: 20 },
  },

  // A model that does not listen: whoever can end the turn does so at the third refusal.
  defiant: {
    turns: times(30, () => [run('cat status.txt')]),
    files: { 'status.txt': 'job 17 is queued\n' },
    expect: { warnedBy: 4, refusedBy: 6 },
  },

  // The same at the speed of a real model: where nothing can end the turn, defiance kills the session.
  'defiant-slow': {
    turns: times(30, () => [run('cat status.txt')]),
    delayMs: 1300,
    files: { 'status.txt': 'job 17 is queued\n' },
    expect: { warnedBy: 4, refusedBy: 6 },
  },

  // The program is gone: work goes on.
  'binary-gone': {
    turns: times(4, (n) => [run(`echo part ${n}`)]),
    setup: 'binary-gone',
    expect: { untouched: true, prompts: 0, calls: 0, turns: 4 },
  },

  // A policy file that can't be read does not switch the guard off.
  'policy-broken': {
    turns: times(8, () => [run('cat status.txt')]),
    files: { 'status.txt': 'job 17 is queued\n' },
    setup: 'policy-broken',
    expect: { warnedBy: 4, refusedBy: 6 },
  },

  // A store that can't be written: work goes on.
  'store-read-only': {
    turns: times(4, (n) => [run(`echo part ${n}`)]),
    setup: 'store-read-only',
    expect: { untouched: true, prompts: 0, calls: 0, turns: 4 },
  },

  // Hooks in the user's and in the project's settings: each call counts once.
  'user-and-project': {
    turns: times(8, () => [run('cat status.txt')]),
    files: { 'status.txt': 'job 17 is queued\n' },
    setup: 'user-and-project',
    expect: { warnedBy: 4, refusedBy: 6, steps: 5 },
  },

  // A delete that does not take, again and again: the third kills the session.
  deletes: {
    turns: times(5, () => [remove('fact_sales')]),
    expect: { refusedBy: 3, killed: true },
  },

  // A whole home goes at once, written as something else: refused the first time.
  'rm-home': {
    turns: [[run('rm -rf ~/x/..')], [run('echo went on')]],
    expect: { refusedBy: 1, calls: 2 },
    gateway: { calls: 1, shows: 'was not run' },
  },

  // The agent's own work thrown away, twice: its own business.
  'git-reset': {
    turns: [
      [run('git add total.py && git -c user.name=a -c user.email=a@example.com commit -q -m one')],
      ...times(2, (n) => [[edit('total.py', `total = ${n}\n`)], [run('git reset --hard')]]).flat(),
    ],
    files: { 'total.py': 'total = 0\n' },
    expect: { untouched: true, calls: 5 },
  },

  // Tables of a database: warned on the second of one name, asked about the third, refused on the third of one name.
  'drop-table': {
    turns: ['orders', 'orders', 'users', 'orders'].map((table) => [run(`./psql -d shop -c 'DROP TABLE ${table}'`)]),
    files: { psql: '#!/bin/sh\necho "$4" >> dropped; echo DROP TABLE\n' },
    expect: { warnedBy: 2, asked: true, refusedBy: 4, calls: 4 },
    gateway: { asked: undefined, refusedBy: undefined, calls: 3, shows: 'sprag approve' },
  },

  // Clean builds between changing results.
  'clean-builds': {
    turns: times(7, (n) => [
      [edit('main.c', `int main(void) { return ${n}; }\n`)],
      [run('rm -rf build && mkdir build && ./compile')],
    ]).flat(),
    files: { compile: '#!/bin/sh\ncp main.c build/main; echo "built $(cksum < main.c | cut -d" " -f1)"\n' },
    expect: { untouched: true, calls: 14 },
  },

  // Nobody is there: refused both times, and the model reads how it could be approved.
  'ask-nobody': ask(null, { ran: 0 }),

  // A person approves on the command line after the first refusal: the same call runs, once.
  'ask-approved': ask('approve', { ran: 1 }),

  // A person declines: the model reads by whom.
  'ask-declined': ask('decline', { ran: 0, refusedBy: 3 }),

  // An answer that only repeats itself: ended within three thousand bytes.
  chant: {
    speak: [{ pieces: times(4000, () => 'I will now check the file again. '), everyMs: 1 }],
    only: 'gateway',
    expect: { calls: 0, shows: 'it only repeated itself', mostSent: 120 },
  },

  // A person kills the session while the model speaks: the answer ends properly.
  'kill-streaming': {
    speak: [{ pieces: times(200, (n) => `Thought number ${n} is about ${n * 37}. `), everyMs: 300 }],
    person: 'kill',
    only: 'gateway',
    expect: { calls: 0, killed: true, shows: 'This session was stopped', mostSent: 120 },
  },

  // The same words after each automatic "continue", until a block; then the user speaks.
  'text-loop': {
    speak: times(12, () => ({ text: 'I am still thinking about it.' })),
    prompts: [...times(6, () => 'continue'), 'Then do something else, please.'],
    only: 'gateway',
    expect: { calls: 0, prompts: 2, shows: 'until you write', requests: 6 },
  },

  // A loop, a block, and then the user speaks: work goes on.
  'speak-after-block': {
    turns: [...times(6, () => [run('cat status.txt')]), [run('echo went on')]],
    files: { 'status.txt': 'job 17 is queued\n' },
    prompts: ['Then look elsewhere, please.'],
    only: 'gateway',
    expect: { warnedBy: 4, refusedBy: 6, prompts: 2 },
  },

  // Calls of one answer arrive at once; all of them are counted.
  parallel: {
    turns: times(3, (turn) => times(4, (n) => run(`echo turn ${turn} part ${n}`))),
    expect: { untouched: true, calls: 12 },
  },
};

/** The marker by which a prompt says which script is played. */
export const marker = (name) => `[[play ${name}]]`;

const MARKER = /\[\[play ([\w-]+)\]\]/g;

/**
 * The next turn of a conversation: scripts are found by the marker in its first message, and the turn by how often
 * the model has acted already.
 */
export function next(conversation, script, { translate, finish }) {
  if (conversation.tools.length === 0) return { text: conversation.wantsJson ? '{}' : 'A title', calls: [] };
  const played = conversation.turns.flatMap((turn) => (turn.role === 'user' ? [...turn.text.matchAll(MARKER)] : []));
  // A parent's prompt comes before what its children answer, a child's holds its own marker only.
  const name = played[0]?.[1];
  if (script.speak) {
    const spoken = conversation.turns.filter((turn) => turn.role === 'assistant').length;
    return { text: '', calls: [], usage: script.usage, ...script.speak[Math.min(spoken, script.speak.length - 1)] };
  }
  const turns = script.children?.[name] ?? script.turns;
  const acted = conversation.turns.filter((turn) => turn.role === 'assistant' && turn.calls.length > 0).length;
  const deeds = turns[acted];
  if (!deeds) {
    const calls = finish && conversation.tools.includes(finish.name) ? [finish] : [];
    return { text: 'All done.', calls, usage: script.usage };
  }
  return { text: '', calls: deeds.map(translate), usage: script.usage };
}
