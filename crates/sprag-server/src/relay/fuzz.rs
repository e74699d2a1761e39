//! The body of a message that is relayed, as a fuzz target.

use super::config::FieldNames;
use super::message_body::MessageBody;

/// A body that the relay takes holds the flow afterwards, is taken again, and keeps every other member, byte for
/// byte and in its order.
pub fn relay_body(data: &[u8]) {
    let names = FieldNames::default();
    let Ok(body) = MessageBody::read(data) else {
        return;
    };
    if body.fields(&names).is_err() {
        return;
    }
    let text = body.with(&[(&names.correlation, "f\"1"), (&names.session, "s1")]);
    let new = MessageBody::read(text.as_bytes());
    let is_set = new.as_ref().is_ok_and(|new| {
        let fields = new.fields(&names);
        fields.is_ok_and(|fields| {
            fields.flow.is_some_and(|flow| flow.as_str() == "f\"1")
                && fields
                    .session
                    .is_some_and(|session| session.as_str() == "s1")
        })
    });
    assert!(is_set);
    let own = [names.correlation.as_str(), names.session.as_str()];
    let kept = new.is_ok_and(|new| new.others(&own).eq(body.others(&own)));
    assert!(kept);
}
