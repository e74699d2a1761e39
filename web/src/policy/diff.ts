// What changed between two texts, line by line.

export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
}

const MOST = 3000;

/** The shortest edit, by the longest common subsequence; a policy is short, so the plain table will do. */
export function diff(before: string, after: string): DiffLine[] {
  const [a, b] = [lines(before), lines(after)];
  if (a.length > MOST || b.length > MOST) {
    return [...a.map((text) => ({ kind: "removed" as const, text })), ...b.map((text) => ({ kind: "added" as const, text }))];
  }
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const cell = i * width + j;
      longest[cell] = a[i] === b[j] ? (longest[cell + width + 1] ?? 0) + 1 : Math.max(longest[cell + width] ?? 0, longest[cell + 1] ?? 0);
    }
  }
  const found: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const cell = i * width + j;
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push({ kind: "same", text: a[i] ?? "" });
      i += 1;
      j += 1;
    } else if (i < a.length && (j >= b.length || (longest[cell + width] ?? 0) >= (longest[cell + 1] ?? 0))) {
      found.push({ kind: "removed", text: a[i] ?? "" });
      i += 1;
    } else {
      found.push({ kind: "added", text: b[j] ?? "" });
      j += 1;
    }
  }
  return found;
}

function lines(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** Only what changed, with a few lines around it; a gap is null. */
export function hunks(all: DiffLine[], around = 2): (DiffLine | null)[] {
  const near = all.map((_, n) => all.slice(Math.max(0, n - around), n + around + 1).some((line) => line.kind !== "same"));
  const found: (DiffLine | null)[] = [];
  all.forEach((line, n) => {
    if (near[n]) found.push(line);
    else if (found.at(-1) !== null && found.length > 0) found.push(null);
  });
  return found.at(-1) === null ? found.slice(0, -1) : found;
}
