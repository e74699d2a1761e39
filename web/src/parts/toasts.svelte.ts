// Short words about what was just done. They leave by themselves.

export interface Toast {
  id: number;
  text: string;
  bad: boolean;
}

class Toasts {
  all = $state<Toast[]>([]);
  #next = 1;

  tell(text: string, bad = false): void {
    const id = this.#next++;
    this.all = [...this.all.slice(-3), { id, text, bad }];
    setTimeout(() => this.dismiss(id), bad ? 10_000 : 5000);
  }

  dismiss(id: number): void {
    this.all = this.all.filter((toast) => toast.id !== id);
  }
}

export const toasts = new Toasts();
