//! Who asks, and what that lets them do.
//!
//! A handler says by its arguments whom it serves: [`Caller`] is anyone with a role, [`Reader`] an operator or a viewer,
//! [`Operator`] an operator.
//! So the right stands in the handler's own signature, and a route that forgot it is found by the
//! test that asks every route as everyone.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use sprag::{Id, Role, Sender, Timestamp};

use crate::app::App;
use crate::problem::{Problem, ProblemKind};
use crate::tokens::{Holder, TokenProof};

/// From where a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// Over the Unix socket: a user of this machine.
    Socket,
    /// From this machine, where that is worth something.
    Loopback,
    /// From anywhere.
    Remote,
}

/// Anyone with a role.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) role: Role,
    pub(crate) name: Arc<str>,
    /// The name again, if a token proved it.
    token: Option<Id>,
    proof: Option<TokenProof>,
    /// The person whose token opened the dashboard.
    pub(crate) person: Option<Arc<str>>,
    /// When its token ends; only those of the dashboard do.
    pub(crate) expires: Option<Timestamp>,
    /// Came over the Unix socket: whoever reaches it could read the hooks' token as well.
    pub(crate) over_socket: bool,
}

/// An operator.
#[derive(Debug, Clone)]
pub(crate) struct Operator {
    name: Arc<str>,
    /// The person whose token opened the dashboard.
    person: Option<Arc<str>>,
    sender: Sender,
    /// Holds a token of the dashboard, which ends by itself.
    pub(crate) is_dashboard: bool,
}

/// Someone who may look: an operator or a viewer.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    proof: Option<TokenProof>,
}

impl Reader {
    /// Whether its token is still good: for answers that go on for hours.
    pub(crate) fn may_still_look(&self, app: &App) -> bool {
        let holder = self
            .proof
            .and_then(|proof| app.tokens().holder_by(proof, app.guard().now()));
        holder.is_some_and(|holder| may_look(holder.role))
    }
}

fn may_look(role: Role) -> bool {
    matches!(role, Role::Operator | Role::Viewer)
}

impl Operator {
    /// The name of the person, or of the token that stands for one.
    pub(crate) fn name(&self) -> &str {
        self.person.as_deref().unwrap_or(&self.name)
    }

    /// What it is to the guard.
    pub(crate) fn sender(&self) -> Sender {
        self.sender.clone()
    }

    /// Who gave an order, for the log: the name that was given, and that of the token that proves it. The word "token"
    /// before it would have it redacted as one.
    pub(crate) fn signs(&self, by: Option<&str>) -> String {
        signed(by, self.person.as_deref(), &self.name)
    }
}

impl Caller {
    /// Who gave an answer, for the log.
    pub(crate) fn signs(&self, by: Option<&str>) -> String {
        signed(by, self.person.as_deref(), &self.name)
    }
}

/// The name that was given, or that of the person who opened the dashboard, and that of the token that proves it.
fn signed(by: Option<&str>, person: Option<&str>, token: &str) -> String {
    let given = by.map(str::trim).filter(|by| !by.is_empty());
    match (given, person) {
        (Some(by), Some(person)) => format!("{by} (as {person})"),
        (Some(by), None) => format!("{by} (as {token})"),
        (None, Some(person)) => format!("{person} (as {token})"),
        (None, None) => token.to_owned(),
    }
}

impl Caller {
    /// What it is to the guard.
    pub(crate) fn sender(&self) -> Sender {
        Sender {
            role: self.role,
            name: match &self.person {
                Some(person) => Id::new(person).ok(),
                None => self.token.clone(),
            },
        }
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let holder = match bearer(&parts.headers)? {
            Some(token) => match app.tokens().holder(token, app.guard().now()) {
                Some(holder) => holder,
                None => return Err(app.wrong_token().await),
            },
            None => by_place(parts)?,
        };
        let token = holder.proof.and_then(|_| Id::new(&holder.name).ok());
        // Whoever reads the body reads it in the room of this role.
        parts.extensions.insert(holder.role);
        Ok(Self {
            role: holder.role,
            proof: holder.proof,
            token,
            person: holder.person,
            name: holder.name,
            expires: holder.expires,
            over_socket: parts.extensions.get() == Some(&Peer::Socket),
        })
    }
}

impl FromRequestParts<App> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let named = parts.headers.contains_key(header::AUTHORIZATION);
        let caller = Caller::from_request_parts(parts, app).await?;
        match caller.role {
            Role::Operator => Ok(Self {
                sender: caller.sender(),
                is_dashboard: caller.expires.is_some(),
                person: caller.person,
                name: caller.name,
            }),
            role if named => Err(Problem::new(
                ProblemKind::Forbidden,
                format!(
                    "this is for operators; the token {:?} is for {role}s",
                    caller.name
                ),
            )),
            _ => Err(Problem::new(
                ProblemKind::Unauthorized,
                "this is for operators: send `Authorization: Bearer` with the operator token",
            )),
        }
    }
}

impl FromRequestParts<App> for Reader {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let named = parts.headers.contains_key(header::AUTHORIZATION);
        let caller = Caller::from_request_parts(parts, app).await?;
        match caller.role {
            role if may_look(role) => Ok(Self {
                proof: caller.proof,
            }),
            role if named => Err(Problem::new(
                ProblemKind::Forbidden,
                format!(
                    "this is for operators and viewers; the token {:?} is for {role}s",
                    caller.name
                ),
            )),
            _ => Err(Problem::new(
                ProblemKind::Unauthorized,
                "this is for operators and viewers: send `Authorization: Bearer` with such a token",
            )),
        }
    }
}

/// The token of the `Authorization` header.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return Ok(None);
    };
    let token = value.to_str().ok().and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then_some(token.trim())
    });
    match token {
        Some(token) => Ok(Some(token)),
        None => Err(Problem::new(
            ProblemKind::Unauthorized,
            "the Authorization header must be `Bearer` and a token",
        )),
    }
}

/// What the place that a request comes from is worth.
fn by_place(parts: &Parts) -> Result<Holder, Problem> {
    let name = match parts.extensions.get::<Peer>() {
        Some(Peer::Socket) => "socket",
        Some(Peer::Loopback) => "loopback",
        Some(Peer::Remote) | None => {
            return Err(Problem::new(
                ProblemKind::Unauthorized,
                "send `Authorization: Bearer` with a token; `sprag token add` makes one",
            ));
        }
    };
    Ok(Holder {
        role: Role::Agent,
        name: name.into(),
        person: None,
        expires: None,
        proof: None,
    })
}
