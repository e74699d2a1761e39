//! The MCP proxy.
