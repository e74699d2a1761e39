// The token of this dashboard. It is kept in sessionStorage: no other port, no other site and no other tab can read it,
// and it ends with the tab. What the browser keeps for a whole host (cookies) would be sent to whatever else listens there.
const NAME = "sprag.token";

export const dashboardToken = {
  get(): string | null {
    return sessionStorage.getItem(NAME);
  },
  set(token: string): void {
    sessionStorage.setItem(NAME, token);
  },
  forget(): void {
    sessionStorage.removeItem(NAME);
  },
};
