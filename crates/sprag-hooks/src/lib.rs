//! The hooks of agent CLIs.
