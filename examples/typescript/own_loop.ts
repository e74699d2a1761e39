// A loop of your own: ask before each tool, report its result, stop when the guard says so.
import { Guard, Refused } from "sprag";

function deleteAsset({ asset_id }: { asset_id: string }): string {
  return `${asset_id} still exists`;
}

const guard = Guard.inMemory(); // new Guard() shares this machine's guard
const tool = guard.tool(deleteAsset, "delete_asset");

await guard.session("s1", { agent: "cleaner" }).run(async () => {
  for (let round = 0; round < 10; round++) {
    try {
      console.log(round, await tool({ asset_id: "fact_sales" }));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      console.log(round, error.message);
      break;
    }
  }
});
