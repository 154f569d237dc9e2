//! How many questions may be open at the desk, and how large.

use callgate_wire::approval::ApprovalRequest;

use super::{Desk, MOST_BYTES};

impl Desk {
    /// Returns true if one more question may be open. Those of other machines leave half of the
    /// room to the agents here.
    pub(super) fn has_room(&self, request: &ApprovalRequest) -> bool {
        let share = if request.machine.is_some() { 2 } else { 1 };
        let (twins, twin_bytes) = self.twins.waiting_room();
        self.open.len() + twins < self.most_open / share
            && self.bytes + twin_bytes + request_size(request) <= MOST_BYTES / share
    }
}

pub(super) fn request_size(request: &ApprovalRequest) -> usize {
    let suggestions = request.permission_suggestions.iter().map(|raw| raw.get().len());
    request.tool_input.get().len() + request.cwd.len() + suggestions.sum::<usize>()
}
