//! Faults that happen a number of times.

/// A fault for one client (`None`: for all) and the next `times` occasions.
#[derive(Clone, Debug)]
pub struct Counted<T> {
    pub client: Option<String>,
    pub times: u32,
    pub fault: T,
}

impl<T> Counted<T> {
    pub fn applies_to(&self, client: Option<&str>) -> bool {
        self.times > 0 && (self.client.is_none() || self.client.as_deref() == client)
    }
}

/// Takes one occasion of the first fault that applies to the client.
pub fn take<T: Clone>(faults: &mut Vec<Counted<T>>, client: Option<&str>, applies: impl Fn(&T) -> bool) -> Option<T> {
    let found = faults.iter_mut().find(|counted| counted.applies_to(client) && applies(&counted.fault))?;
    found.times -= 1;
    let fault = found.fault.clone();
    faults.retain(|counted| counted.times > 0);
    Some(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counted_fault_meets_its_client_and_ends() {
        let mut faults = vec![Counted { client: Some("kelly".to_owned()), times: 2, fault: 7 }];
        assert_eq!(take(&mut faults, Some("vince"), |_| true), None);
        assert_eq!(take(&mut faults, Some("kelly"), |fault| *fault == 8), None);
        assert_eq!([(); 3].map(|()| take(&mut faults, Some("kelly"), |_| true)), [Some(7), Some(7), None]);
    }
}
