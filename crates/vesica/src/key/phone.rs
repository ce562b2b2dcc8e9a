//! Telephone numbers to E.164.
//!
//! 1. Spaces, tabs, no-break spaces, hyphens and dashes, `.`, `/`, `(` and `)` are dropped; a full-width `＋` is a `+`. Any other
//!    character but ASCII digits and one leading `+` (letters, extensions) makes the value unmatchable.
//! 2. After `+`, `00` or the country's own international prefix the digits are international, else national.
//! 3. A trunk prefix is removed from a national number; a trunk `0` also behind the country code (`+49 (0)30 ...`), where no number
//!    starts with it. Countries without a trunk prefix keep a leading zero (Italy).
//! 4. The country code must be assigned, the national part has at least the plan's shortest length, and all have at most 15 digits.
//!
//! Not done: carrier codes between trunk prefix and number (Brazil, Colombia) and obsolete mobile prefixes (Argentina, Mexico).

use crate::key::Unmatchable;
use crate::key::countries::Plan;

/// Most digits of an E.164 number.
const LONGEST: usize = 15;

/// Digits of a national number when its plan is not known.
const SHORTEST: usize = 4;

/// Appends `+` and the digits of the number.
pub(crate) fn e164(value: &str, plan: &Plan, out: &mut String) -> Result<(), Unmatchable> {
    let mut plus = false;
    let start = out.len();
    for c in value.trim().chars() {
        match c {
            '0'..='9' => out.push(c),
            '+' | '\u{ff0b}' if !plus && out.len() == start => plus = true,
            ' ' | '\t' | '\u{a0}' | '\u{202f}' | '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '.' | '/' | '(' | ')' => {}
            _ => return Err(Unmatchable),
        }
    }
    let digits = out.split_off(start);
    let international = if plus { Some(digits.as_str()) } else { without_international_prefix(&digits, plan) };
    let (code, national, plan) = match international {
        Some(international) => {
            let (plan, rest) = Plan::split(international).ok_or(Unmatchable)?;
            let code = &international[..international.len() - rest.len()];
            let trunk = plan.filter(|plan| plan.trunk == "0").and_then(|_| rest.strip_prefix('0'));
            (code, trunk.unwrap_or(rest), plan)
        }
        None => {
            let trunk = if plan.trunk.is_empty() { None } else { digits.strip_prefix(plan.trunk) };
            let national = trunk.filter(|rest| rest.len() >= plan.shortest).unwrap_or(&digits);
            (plan.code, national, Some(plan))
        }
    };
    let shortest = plan.map_or(SHORTEST, |plan| plan.shortest);
    let second_trunk = plan.is_some_and(|plan| plan.trunk == "0") && national.starts_with('0');
    if second_trunk || national.len() < shortest || code.len() + national.len() > LONGEST {
        return Err(Unmatchable);
    }
    out.push('+');
    out.push_str(code);
    out.push_str(national);
    Ok(())
}

fn without_international_prefix<'a>(digits: &'a str, plan: &Plan) -> Option<&'a str> {
    let own = if plan.international.is_empty() { None } else { digits.strip_prefix(plan.international) };
    own.or_else(|| digits.strip_prefix("00"))
}
