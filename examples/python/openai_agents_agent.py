"""OpenAI Agents: `guard(agent)`."""

import json

from agents import Agent, Runner, ToolInputGuardrailTripwireTriggered, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel
from openai.types.responses import ResponseFunctionToolCall

from sprag_guard import Guard
from sprag_guard.openai_agents import guard

set_tracing_disabled(True)


@function_tool
def delete_asset(asset_id: str) -> str:
    """Deletes an asset, in vain."""
    print(f"deleting {asset_id}")
    return f"{asset_id} still exists"


def call(number: int) -> ResponseFunctionToolCall:
    """The same call again."""
    arguments = json.dumps({"asset_id": "fact_sales"})
    return ResponseFunctionToolCall(
        call_id=f"call_{number}", name="delete_asset", arguments=arguments, type="function_call"
    )


model = ScriptedModel([[call(number)] for number in range(10)])
agent = Agent("cleaner", model=model, tools=[delete_asset])
try:
    # guard(agent) shares this machine's guard
    Runner.run_sync(guard(agent, Guard.in_memory()), "clean up")
except ToolInputGuardrailTripwireTriggered as stopped:
    print(stopped.output.output_info)
