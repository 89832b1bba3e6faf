//! Flows that differ in nothing but their names and hosts.

use crate::plan::{FlowPlan, Plan, Protocol};

/// With more flows than this nobody compares them one by one.
const MOST: usize = 100;

/// Names of flows with equal settings, starts and paths that share a link: one list for each kind
/// with two or more. Equal flows have equal shares, unless the network or chance prefers one.
pub fn alike(plan: &Plan) -> Vec<Vec<&str>> {
    if plan.flows.len() > MOST {
        return Vec::new();
    }
    let mut kinds: Vec<(String, Vec<&FlowPlan>)> = Vec::new();
    for flow in plan.flows.iter().filter(|flow| !matches!(flow.protocol, Protocol::Connections(_))) {
        let text = description(plan, flow);
        match kinds.iter_mut().find(|(kind, flows)| *kind == text && share_a_link(flows[0], flow)) {
            Some((_, flows)) => flows.push(flow),
            None => kinds.push((text, vec![flow])),
        }
    }
    let several = kinds.into_iter().filter(|(_, flows)| flows.len() > 1);
    several.map(|(_, flows)| flows.into_iter().map(|flow| flow.name.as_str()).collect()).collect()
}

fn share_a_link(one: &FlowPlan, other: &FlowPlan) -> bool {
    one.forward.iter().any(|link| other.forward.contains(link))
}

/// All that a flow's run depends on, save the others.
fn description(plan: &Plan, flow: &FlowPlan) -> String {
    let FlowPlan { start, start_jitter, stop, protocol, .. } = flow;
    let path = |links: &[usize]| -> Vec<_> {
        let before = |link: usize| plan.routers.iter().filter(move |router| router.links.contains(&link));
        links
            .iter()
            .map(|&link| {
                (&plan.links[link].settings, before(link).map(|router| &router.mechanism).collect::<Vec<_>>())
            })
            .collect()
    };
    format!("{:?}", (start, start_jitter, stop, protocol, path(&flow.forward), path(&flow.reverse)))
}

#[cfg(test)]
mod tests {
    use crate::scenario::Scenario;

    fn kinds(flows: &str) -> Vec<Vec<String>> {
        let text = format!(
            "schema = 1\nduration = \"1 s\"\n[network]\ntopology = \"dumbbell\"\naccess_step = \"0 s\"\n\
             bottleneck = {{ rate = \"10 Mbps\", delay = \"1 ms\" }}\naccess = {{ rate = \"1 Gbps\", delay = \"1 ms\" }}\n{flows}"
        );
        let scenario = Scenario::parse(&text, "test", &[]).expect("valid");
        super::alike(&scenario.plan)
            .iter()
            .map(|kind| kind.iter().map(ToString::to_string).collect())
            .collect()
    }

    #[test]
    fn copies_are_alike_and_others_are_not() {
        assert_eq!(kinds("[[flow]]\ncount = 2\n[[flow]]\nname = \"c\"\n"), [["flow1-1", "flow1-2", "c"]]);
        assert!(kinds("[[flow]]\n[[flow]]\ncongestion_control = \"cubic\"\n").is_empty());
        assert!(kinds("[[flow]]\n[[flow]]\nstart = \"10 ms\"\n").is_empty());
        assert!(kinds("[[flow]]\n[[flow]]\nfrom = \"sink1\"\nto = \"source1\"\n").is_empty());
        assert!(kinds("[[flow]]\n").is_empty());
    }
}
