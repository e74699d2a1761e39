/** The version of this package: that of the `sprag` binary that belongs to it. */
export const VERSION = "0.1.0";

/** Whether a guard of version `other` speaks as this package of version `own` does. */
export function isCompatible(other: string, own: string = VERSION): boolean {
  return line(other) === line(own);
}

/** What must be equal: the major version; before 1.0 the minor one as well. */
function line(version: string): string {
  const parts = (version.trim().split("-")[0] ?? "").split(".");
  return parts.slice(0, parts[0] === "0" ? 2 : 1).join(".");
}
