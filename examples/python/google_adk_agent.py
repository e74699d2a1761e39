"""Google ADK: one plugin for all agents of a runner."""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from sprag_guard import Guard
from sprag_guard.google_adk import SpragPlugin


class Scripted(BaseLlm):
    """A model that deletes the same asset for ever."""

    async def generate_content_async(self, llm_request, stream=False):
        part = types.Part.from_function_call(name="delete_asset", args={"asset_id": "fact_sales"})
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def delete_asset(asset_id: str) -> str:
    """Deletes an asset, in vain."""
    return f"{asset_id} still exists"


async def main() -> None:
    """One turn of the agent; SpragPlugin() shares this machine's guard."""
    agent = LlmAgent(name="cleaner", model=Scripted(model="scripted"), tools=[delete_asset])
    app = App(name="clean", root_agent=agent, plugins=[SpragPlugin(Guard.in_memory())])
    for event in await InMemoryRunner(app=app).run_debug("clean up", quiet=True):
        for part in event.content.parts if event.content else []:
            print(part.text or part.function_response and part.function_response.response or "")


asyncio.run(main())
