"""CrewAI: hooks for every crew of the process."""

from crewai import Agent, Crew, Task
from crewai.hooks.dispatch import HookAborted
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool

from sprag_guard import Guard
from sprag_guard.crewai import SpragHooks


class Scripted(BaseLLM):
    """A model that deletes the same asset for ever."""

    def supports_function_calling(self) -> bool:
        return True

    def call(self, messages, *args, **kwargs):
        function = {"name": "delete_asset", "arguments": '{"asset_id": "fact_sales"}'}
        return [{"id": f"call_{len(messages)}", "type": "function", "function": function}]


@tool("delete_asset")
def delete_asset(asset_id: str) -> str:
    """Deletes an asset, in vain."""
    print(f"deleting {asset_id}")
    return f"{asset_id} still exists"


llm = Scripted(model="scripted")
cleaner = Agent(role="cleaner", goal="clean", backstory="cleans", llm=llm, tools=[delete_asset])
task = Task(description="clean up", expected_output="a report", agent=cleaner)
SpragHooks(Guard.in_memory()).install()  # SpragHooks() shares this machine's guard
try:
    Crew(agents=[cleaner], tasks=[task]).kickoff()
except HookAborted as aborted:
    print(aborted)
