// Which part of a session the timeline shows: a stretch of events that can be moved and zoomed, and
// never leaves the session.

export interface View {
  /** The first event shown; may lie between two. */
  from: number;
  /** How many are shown. */
  span: number;
}

export const LEAST_SPAN = 12;

export function clamped(view: View, length: number): View {
  const span = Math.max(LEAST_SPAN, Math.min(view.span, Math.max(LEAST_SPAN, length)));
  const from = Math.max(0, Math.min(view.from, Math.max(0, length - span)));
  return { from, span };
}

/** Zooms by a factor so that `around` stays where it is. */
export function zoomed(view: View, factor: number, around: number, length: number): View {
  const span = Math.max(LEAST_SPAN, Math.min(view.span * factor, Math.max(LEAST_SPAN, length)));
  const part = view.span > 0 ? (around - view.from) / view.span : 0.5;
  return clamped({ from: around - part * span, span }, length);
}

/** Moves just so far that `n` is well inside. */
export function following(view: View, n: number, length: number): View {
  const margin = Math.min(4, view.span / 6);
  if (n < view.from + margin) return clamped({ ...view, from: n - view.span * 0.25 }, length);
  if (n + 1 > view.from + view.span - margin) return clamped({ ...view, from: n - view.span * 0.75 }, length);
  return view;
}
