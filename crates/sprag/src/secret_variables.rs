//! The variables that hold secrets of Sprag itself.

/// No program that Sprag starts gets these: a wrapped MCP server, a notification's command, a browser.
pub const SECRET_VARIABLES: [&str; 5] = [
    "SPRAG_AGENT_TOKEN",
    "SPRAG_GATEWAY_TOKEN",
    "SPRAG_OPERATOR_TOKEN",
    "SPRAG_REDIS_PASSWORD",
    "SPRAG_WEBHOOK_SECRET",
];
