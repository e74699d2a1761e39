"""LangChain: one line of middleware."""

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from sprag_guard import Guard
from sprag_guard.langchain import SpragMiddleware


class Scripted(GenericFakeChatModel):
    """A model that deletes the same asset for ever."""

    def bind_tools(self, tools, **kwargs):
        return self


def delete_asset(asset_id: str) -> str:
    """Deletes an asset, in vain."""
    return f"{asset_id} still exists"


call = {"name": "delete_asset", "args": {"asset_id": "fact_sales"}}
turns = iter(AIMessage("", tool_calls=[{**call, "id": f"call_{n}"}]) for n in range(10))
agent = create_agent(
    Scripted(messages=turns),
    [delete_asset],
    middleware=[SpragMiddleware(Guard.in_memory())],  # SpragMiddleware() shares this machine's guard
)
for message in agent.invoke({"messages": [("user", "clean up")]})["messages"]:
    print(f"{message.type}: {message.content}")
