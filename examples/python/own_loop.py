"""A loop of one's own: guard the tools, and let a refusal end the run."""

from sprag_guard import Guard, Refused

guard = Guard.in_memory()  # Guard() shares the store of this machine


@guard.tool
def delete_asset(asset_id: str) -> str:
    """Deletes an asset, in vain."""
    return f"{asset_id} still exists"


with guard.session("s1", agent="cleaner"):
    for turn in range(10):
        try:
            print(turn, delete_asset("fact_sales"))
        except Refused as refused:
            print(turn, refused)
            break
