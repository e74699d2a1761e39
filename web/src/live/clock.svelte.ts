// The time of day for "3 s ago", one tick for the whole page.

class Clock {
  now = $state(Date.now());

  constructor() {
    setInterval(() => {
      if (!document.hidden) this.now = Date.now();
    }, 1000);
  }
}

export const wall = new Clock();
