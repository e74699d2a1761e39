// Plays a session: moves the cursor so many events a second.
import type { ReplayModel } from "./model.svelte.ts";

export const SPEEDS = [2, 10, 50, 250] as const;

export class Player {
  playing = $state(false);
  speed = $state<number>(SPEEDS[0]);
  #model: ReplayModel;
  #frame = 0;
  #last = 0;
  #owed = 0;

  constructor(model: ReplayModel) {
    this.#model = model;
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  play(): void {
    if (this.#model.cursor >= this.#model.length - 1) this.#model.go(0);
    this.playing = true;
    this.#owed = 0;
    this.#last = performance.now();
    this.#frame = requestAnimationFrame((now) => this.#tick(now));
  }

  pause(): void {
    this.playing = false;
    cancelAnimationFrame(this.#frame);
  }

  faster(by: 1 | -1): void {
    const place = SPEEDS.findIndex((speed) => speed === this.speed);
    this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, place + by))] ?? SPEEDS[0];
  }

  #tick(now: number): void {
    if (!this.playing) return;
    // A page that was hidden does not make up for it in one jump.
    this.#owed += (Math.min(now - this.#last, 200) / 1000) * this.speed;
    this.#last = now;
    const steps = Math.floor(this.#owed);
    this.#owed -= steps;
    if (steps > 0) this.#model.go(this.#model.cursor + steps);
    if (this.#model.cursor >= this.#model.length - 1) return this.pause();
    this.#frame = requestAnimationFrame((next) => this.#tick(next));
  }
}
