//! Observations as bytes. Every struct is taken apart whole, so a new field can't be forgotten here.

use sprag_core::{
    Call, Dispatch, Hints, Identity, Message, MessageKind, Observation, Observed, Order, Source,
    Step, Timestamp, Usage,
};

use super::bytes::{Malformed, Reader, Writer, tagged};
use super::tool_use::{
    decode_approach, decode_hints, decode_outcome, encode_approach, encode_hints, encode_outcome,
};

tagged!(
    source,
    to_source,
    Source,
    "source",
    User = 0,
    Applet = 1,
    Scheduler = 2
);
tagged!(
    kind,
    to_kind,
    MessageKind,
    "kind of message",
    Say = 0,
    Spawn = 1,
    Return = 2
);
tagged!(
    identity,
    to_identity,
    Identity,
    "identity",
    Exact = 0,
    Shared = 1
);

pub(super) fn encode(out: &mut Writer, observation: &Observation) {
    let Observation { at, what } = observation;
    out.number(at.0);
    match what {
        Observed::Message(message) => {
            out.byte(0);
            encode_message(out, message);
        }
        Observed::Call(call) => {
            out.byte(1);
            encode_call(out, call);
        }
        Observed::Step(step) => {
            out.byte(2);
            encode_step(out, step);
        }
        Observed::Usage(usage) => {
            out.byte(3);
            encode_usage(out, usage);
        }
        Observed::Kill(order) => {
            out.byte(4);
            encode_order(out, order);
        }
        Observed::Reset(order) => {
            out.byte(5);
            encode_order(out, order);
        }
        Observed::DispatchStart(dispatch) => {
            out.byte(6);
            encode_dispatch(out, dispatch);
        }
        Observed::DispatchEnd(dispatch) => {
            out.byte(7);
            encode_dispatch(out, dispatch);
        }
    }
}

pub(super) fn decode(from: &mut Reader<'_>) -> Result<Observation, Malformed> {
    let at = Timestamp(from.number()?);
    let what = match from.byte()? {
        0 => Observed::Message(decode_message(from)?),
        1 => Observed::Call(decode_call(from)?),
        2 => Observed::Step(decode_step(from)?),
        3 => Observed::Usage(decode_usage(from)?),
        4 => Observed::Kill(decode_order(from)?),
        5 => Observed::Reset(decode_order(from)?),
        6 => Observed::DispatchStart(decode_dispatch(from)?),
        7 => Observed::DispatchEnd(decode_dispatch(from)?),
        other => return Err(Malformed::Tag(u64::from(other), "kind of event")),
    };
    Ok(Observation { at, what })
}

fn encode_message(out: &mut Writer, message: &Message) {
    let Message {
        from,
        to,
        source: from_whom,
        flow,
        conversation,
        agent,
        to_agent,
        content,
        kind: what_for,
        unblock,
        generation,
        identity: how_sure,
    } = message;
    out.flags([
        from.is_some(),
        flow.is_some(),
        conversation.is_some(),
        agent.is_some(),
        to_agent.is_some(),
        content.is_some(),
        generation.is_some(),
        *unblock,
    ]);
    out.byte(source(*from_whom));
    out.byte(kind(*what_for));
    out.byte(identity(*how_sure));
    out.id(to);
    out.ids([from.as_ref(), flow.as_ref(), conversation.as_ref()]);
    out.ids([agent.as_ref(), to_agent.as_ref()]);
    if let Some(content) = content {
        out.digest(content);
    }
    if let Some(generation) = generation {
        out.number(u64::from(*generation));
    }
}

fn decode_message(from: &mut Reader<'_>) -> Result<Message, Malformed> {
    let [
        sender,
        flow,
        conversation,
        agent,
        to_agent,
        content,
        generation,
        unblock,
    ] = from.flags()?;
    let (source, kind) = (to_source(from.byte()?)?, to_kind(from.byte()?)?);
    let identity = to_identity(from.byte()?)?;
    Ok(Message {
        to: from.id()?,
        from: from.id_if(sender)?,
        flow: from.id_if(flow)?,
        conversation: from.id_if(conversation)?,
        agent: from.id_if(agent)?,
        to_agent: from.id_if(to_agent)?,
        content: content.then(|| from.digest()).transpose()?,
        generation: from.small_if(generation)?,
        source,
        kind,
        unblock,
        identity,
    })
}

fn encode_call(out: &mut Writer, call: &Call) {
    let Call {
        session,
        agent,
        flow,
        id,
        use_id,
        approach,
        hints,
        generation,
        identity: how_sure,
    } = call;
    out.flags([
        agent.is_some(),
        flow.is_some(),
        id.is_some(),
        use_id.is_some(),
        generation.is_some(),
        *hints != Hints::default(),
    ]);
    out.byte(identity(*how_sure));
    out.id(session);
    out.ids([agent.as_ref(), flow.as_ref(), id.as_ref(), use_id.as_ref()]);
    if let Some(generation) = generation {
        out.number(u64::from(*generation));
    }
    if *hints != Hints::default() {
        encode_hints(out, *hints);
    }
    encode_approach(out, approach);
}

fn decode_call(from: &mut Reader<'_>) -> Result<Call, Malformed> {
    let [agent, flow, id, use_id, generation, hints] = from.flags()?;
    let identity = to_identity(from.byte()?)?;
    Ok(Call {
        session: from.id()?,
        agent: from.id_if(agent)?,
        flow: from.id_if(flow)?,
        id: from.id_if(id)?,
        use_id: from.id_if(use_id)?,
        generation: from.small_if(generation)?,
        hints: if hints {
            decode_hints(from)?
        } else {
            Hints::default()
        },
        approach: decode_approach(from)?,
        identity,
    })
}

fn encode_step(out: &mut Writer, step: &Step) {
    let Step {
        session,
        agent,
        flow,
        id,
        use_id,
        approach,
        outcome,
        generation,
        identity: how_sure,
    } = step;
    out.flags([
        agent.is_some(),
        flow.is_some(),
        id.is_some(),
        use_id.is_some(),
        generation.is_some(),
        approach.is_some(),
    ]);
    out.byte(identity(*how_sure));
    out.id(session);
    out.ids([agent.as_ref(), flow.as_ref(), id.as_ref(), use_id.as_ref()]);
    if let Some(generation) = generation {
        out.number(u64::from(*generation));
    }
    if let Some(approach) = approach {
        encode_approach(out, approach);
    }
    encode_outcome(out, outcome);
}

fn decode_step(from: &mut Reader<'_>) -> Result<Step, Malformed> {
    let [agent, flow, id, use_id, generation, approach] = from.flags()?;
    let identity = to_identity(from.byte()?)?;
    Ok(Step {
        session: from.id()?,
        agent: from.id_if(agent)?,
        flow: from.id_if(flow)?,
        id: from.id_if(id)?,
        use_id: from.id_if(use_id)?,
        generation: from.small_if(generation)?,
        approach: approach.then(|| decode_approach(from)).transpose()?,
        outcome: decode_outcome(from)?,
        identity,
    })
}

fn encode_usage(out: &mut Writer, usage: &Usage) {
    let Usage {
        session,
        agent,
        flow,
        tokens,
        cost_micros,
        generation,
        identity: how_sure,
    } = usage;
    out.flags([agent.is_some(), flow.is_some(), generation.is_some()]);
    out.byte(identity(*how_sure));
    out.id(session);
    out.ids([agent.as_ref(), flow.as_ref()]);
    out.number(*tokens);
    out.number(*cost_micros);
    if let Some(generation) = generation {
        out.number(u64::from(*generation));
    }
}

fn decode_usage(from: &mut Reader<'_>) -> Result<Usage, Malformed> {
    let [agent, flow, generation] = from.flags()?;
    let identity = to_identity(from.byte()?)?;
    Ok(Usage {
        session: from.id()?,
        agent: from.id_if(agent)?,
        flow: from.id_if(flow)?,
        tokens: from.number()?,
        cost_micros: from.number()?,
        generation: from.small_if(generation)?,
        identity,
    })
}

fn encode_order(out: &mut Writer, order: &Order) {
    let Order { session, by, why } = order;
    out.flags([by.is_some(), why.is_some()]);
    out.id(session);
    for text in [by, why].into_iter().flatten() {
        out.text(text);
    }
}

fn decode_order(from: &mut Reader<'_>) -> Result<Order, Malformed> {
    let [by, why] = from.flags()?;
    Ok(Order {
        session: from.id()?,
        by: from.text_if(by)?,
        why: from.text_if(why)?,
    })
}

fn encode_dispatch(out: &mut Writer, dispatch: &Dispatch) {
    let Dispatch { session, flow } = dispatch;
    out.flags([flow.is_some()]);
    out.id(session);
    out.ids([flow.as_ref()]);
}

fn decode_dispatch(from: &mut Reader<'_>) -> Result<Dispatch, Malformed> {
    let [flow] = from.flags()?;
    Ok(Dispatch {
        session: from.id()?,
        flow: from.id_if(flow)?,
    })
}
