//! Whether a condition picks rows, or holds for all of them: `1 = 1`, `true`, `id > 7 OR 1 = 1`.

use sqlparser::ast::{BinaryOperator, Expr};

/// How deep a condition is looked at; one that goes deeper is taken to pick.
const MAX_LEVELS: usize = 48;

/// Whether a condition leaves anything out.
pub(super) fn picks(condition: Option<&Expr>) -> bool {
    condition.is_some_and(|condition| !always(condition, 0))
}

/// Whether a condition holds for every row, as far as its text tells.
fn always(condition: &Expr, depth: usize) -> bool {
    if depth > MAX_LEVELS {
        return false;
    }
    match condition {
        // Every row has a key.
        Expr::IsNotNull(inside) => matches!(
            inside.to_string().to_ascii_lowercase().as_str(),
            "id" | "pk" | "uuid" | "rowid"
        ),
        Expr::Nested(inside) => always(inside, depth + 1),
        Expr::BinaryOp { left, op, right } => match op {
            BinaryOperator::Or => always(left, depth + 1) || always(right, depth + 1),
            BinaryOperator::And => always(left, depth + 1) && always(right, depth + 1),
            BinaryOperator::Eq => left == right,
            _ => false,
        },
        Expr::Value(value) => matches!(value.to_string().as_str(), "true" | "1" | "TRUE"),
        _ => false,
    }
}
