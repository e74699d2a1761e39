"""Pydantic AI: one capability."""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from sprag_guard import Guard, Refused
from sprag_guard.pydantic_ai import Sprag


def scripted(messages, info) -> ModelResponse:
    """A model that deletes the same asset for ever."""
    return ModelResponse([ToolCallPart("delete_asset", {"asset_id": "fact_sales"})])


# Sprag() shares this machine's guard
agent = Agent(FunctionModel(scripted), capabilities=[Sprag(Guard.in_memory())])


@agent.tool_plain
def delete_asset(asset_id: str) -> str:
    """Deletes an asset, in vain."""
    print(f"deleting {asset_id}")
    return f"{asset_id} still exists"


try:
    agent.run_sync("clean up")
except Refused as refused:
    print(refused)
