//! What kind of event it is, and whose: what a log line, an export or a page shows first.

use super::Observed;
use crate::id::Id;

impl Observed {
    /// The type of the event, as on the wire.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Message(_) => "message",
            Self::Call(_) => "call",
            Self::Step(_) => "step",
            Self::Usage(_) => "usage",
            Self::Output(_) => "output",
            Self::Kill(_) => "kill",
            Self::Reset(_) => "reset",
            Self::DispatchStart(_) => "dispatch_start",
            Self::DispatchEnd(_) => "dispatch_end",
            Self::Approve(_) => "approve",
            Self::Decline(_) => "decline",
        }
    }

    /// The session that acts; of a message from outside, the one that receives it.
    #[must_use]
    pub fn session(&self) -> &Id {
        match self {
            Self::Message(message) => message.from.as_ref().unwrap_or(&message.to),
            Self::Call(call) => &call.session,
            Self::Step(step) => &step.session,
            Self::Usage(usage) => &usage.session,
            Self::Output(output) => &output.session,
            Self::Kill(order) | Self::Reset(order) => &order.session,
            Self::DispatchStart(work) | Self::DispatchEnd(work) => &work.session,
            Self::Approve(answer) | Self::Decline(answer) => &answer.session,
        }
    }

    /// The flow it belongs to, if it has one.
    #[must_use]
    pub fn flow(&self) -> Option<&Id> {
        match self {
            Self::Message(message) => message.flow.as_ref(),
            Self::Call(call) => call.flow.as_ref(),
            Self::Step(step) => step.flow.as_ref(),
            Self::Usage(usage) => usage.flow.as_ref(),
            Self::Output(output) => output.flow.as_ref(),
            Self::DispatchStart(work) | Self::DispatchEnd(work) => work.flow.as_ref(),
            Self::Kill(_) | Self::Reset(_) | Self::Approve(_) | Self::Decline(_) => None,
        }
    }

    /// The agent behind that session, if it is known.
    #[must_use]
    pub fn agent(&self) -> Option<&Id> {
        match self {
            Self::Message(message) if message.from.is_none() => message.to_agent.as_ref(),
            Self::Message(message) => message.agent.as_ref(),
            Self::Call(call) => call.agent.as_ref(),
            Self::Step(step) => step.agent.as_ref(),
            Self::Usage(usage) => usage.agent.as_ref(),
            Self::Output(output) => output.agent.as_ref(),
            _ => None,
        }
    }
}
