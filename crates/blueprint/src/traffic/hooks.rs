//! Hooks: the number by which a message says who waits for it, in three ranges.

/// No flow waits for the message.
pub const NO_HOOK: u32 = u32::MAX;

/// Hooks from this number on are of messages of programs: the number of the sender's rank is added to it.
pub const OF_PROGRAM: u32 = 1 << 31;

/// Hooks from this number on, below those of programs, are of flows of lists for which others wait.
pub const AWAITED: u32 = 1 << 30;

/// Added to the hook of a message of a program that has no row in the table of flows.
pub const WITHOUT_ROW: u32 = 1 << 30;

/// Is a message with this hook one of a program's ranks?
#[inline]
pub fn is_of_program(hook: u32) -> bool {
    hook & OF_PROGRAM != 0 && hook != NO_HOOK
}

/// The rank that sends a message of a program, among those of all jobs.
#[inline]
pub fn rank_of(hook: u32) -> u32 {
    hook & (WITHOUT_ROW - 1)
}

/// Does a message with this hook have a row?
#[inline]
pub fn has_row(hook: u32) -> bool {
    hook < OF_PROGRAM | WITHOUT_ROW || hook == NO_HOOK
}
