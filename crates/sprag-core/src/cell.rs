//! Cells: the bounded pieces of state that events touch.
//!
//! The engine works on the [`Cells`] of one event, taken out of a store by their [`CellKeys`] and put
//! back afterwards in one atomic step. A missing cell is a new one.

mod above;
mod alias;
mod approvals;
mod calls;
mod destructive;
mod encoding;
mod flow;
mod flow_news;
pub(crate) mod hash;
mod key;
mod keys;
mod losses;
mod memory;
mod near;
pub(crate) mod pace;
mod pair;
mod pending;
pub(crate) mod progress;
mod rare;
mod rewind;
mod said;
mod session;
mod small;
mod spent;
mod starts;
mod task;
pub(crate) mod tried;
pub(crate) mod window;
mod work;

use crate::time::Timestamp;

pub(crate) use approvals::{Answered, DECLINED_FOR, MAX_OPEN, Question};
pub(crate) use destructive::Destructive;
pub(crate) use flow_news::{FlowNews, MessageNews, Statement};
pub(crate) use losses::CallLosses;
pub(crate) use near::NearLosses;
pub(crate) use pair::{Answers, MessageRun};
pub(crate) use pending::PendingCall;
pub(crate) use rewind::CLOCK_TOLERANCE;
pub(crate) use said::Said;
pub(crate) use spent::{Amount, Spending};
pub(crate) use starts::{Announced, OpenStart, OpenStarts, Starter};
pub(crate) use task::TaskRun;

pub use above::{SessionAbove, SpentAbove};
pub use alias::AliasCell;
pub use approvals::{Approval, ApprovalScope, ApprovalState, approval_code};
pub use flow::FlowCell;
pub(crate) use flow::Path;
pub use key::CellKey;
pub use keys::{CellKeys, Cells, InboxKey};
pub use memory::StepMemory;
pub use pair::PairCell;
pub use session::{Mark, SessionCell, ShadowMark};
pub use small::{AgentCell, ConversationCell, InboxCell};
pub use task::{EarlierRun, TaskCell};

macro_rules! touched {
    ($($cell:ident),+) => {
        $(impl $cell {
            /// The time of its last event.
            #[must_use]
            pub fn touched(&self) -> Timestamp {
                self.touched
            }
        })+
    };
}

touched!(
    SessionCell,
    FlowCell,
    PairCell,
    InboxCell,
    ConversationCell,
    AgentCell,
    AliasCell,
    TaskCell
);
