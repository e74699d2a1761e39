// What the scripted model does in each scenario, in words that every client has: run a command, write a file,
// start a sub-agent. A driver puts them into its client's own tools.
//
// `turns` is a list of model answers; each is a list of deeds done at once. `expect` says what the guard must have
// done: by when the first warning reached the model and by when calls were refused, counted in deeds of the
// main session, or that neither ever happened.

const run = (command) => ({ do: 'run', command });
const write = (path, text) => ({ do: 'write', path, text });
const edit = (path, text) => ({ do: 'run', command: `cat > ${path} <<'END'\n${text}END` });
const start = (child) => ({ do: 'start', child });
const remove = (asset) => ({ do: 'remove', asset });
const times = (count, make) => Array.from({ length: count }, (_, index) => make(index + 1));

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
    expect: { warnedBy: 12, refused: 'perhaps' },
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

  // A delete that does not take, again and again: the third kills the session.
  deletes: {
    turns: times(5, () => [remove('fact_sales')]),
    expect: { refusedBy: 3, killed: true },
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
  const turns = script.children?.[name] ?? script.turns;
  const acted = conversation.turns.filter((turn) => turn.role === 'assistant' && turn.calls.length > 0).length;
  const deeds = turns[acted];
  if (!deeds) {
    const calls = finish && conversation.tools.includes(finish.name) ? [finish] : [];
    return { text: 'All done.', calls };
  }
  return { text: '', calls: deeds.map(translate) };
}
