// The page's colours for a canvas, which does not know custom properties.
import { DECISIONS } from "../api/shapes.ts";

export interface Palette {
  verdicts: string[];
  ink: string;
  quiet: string;
  line: string;
  surface: string;
  sunken: string;
  accent: string;
  accentSoft: string;
  block: string;
  font: string;
}

/** For loops: hues that no verdict has. */
export const LOOP_HUES = ["#3d8bfd", "#12a594", "#9b6dff", "#00a2c7", "#7f8ea3", "#5b6cff"];

export function palette(element: HTMLElement): Palette {
  // A probe for each colour: one that changed its colour might still be on its way from the last one.
  const colour = (name: string) => {
    const probe = document.createElement("span");
    probe.style.color = `var(--${name})`;
    element.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  return {
    verdicts: DECISIONS.map(colour),
    ink: colour("ink"),
    quiet: colour("ink-3"),
    line: colour("line"),
    surface: colour("surface"),
    sunken: colour("sunken"),
    accent: colour("accent"),
    accentSoft: colour("accent-soft"),
    block: colour("block"),
    font: getComputedStyle(element).fontFamily,
  };
}

/** A canvas of this size in CSS pixels, sharp on any screen; none where the browser has no room. */
export function sharp(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = Math.min(3, devicePixelRatio || 1);
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}
