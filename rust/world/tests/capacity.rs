//! What properties of CapacityScheduler make of a cluster's queues, and which are refused.

#![allow(clippy::unwrap_used)] // Helpers of tests are no tests to clippy.

use hiatus_world::capacity::{split, PropertyError, HONOURED};
use hiatus_world::Queue;

/// Two halves; in the second, `b`, two queues of which the first has a third of the cluster's sixth.
fn halves() -> Vec<Queue> {
    let queue = |path: &str, guaranteed| Queue::new(path, guaranteed).master_share(0.0);
    vec![queue("root.a", 0.5), queue("root.b", 0.5), queue("root.b.x", 0.25), queue("root.b.y", 0.25).maximum(0.5)]
}

fn applied(properties: &[(&str, &str)]) -> Result<Vec<Queue>, PropertyError> {
    let whole = |(key, value): &(&str, &str)| (format!("yarn.scheduler.capacity.{key}"), value.to_string());
    let properties: Vec<_> = properties.iter().map(whole).collect();
    split(&properties)?.1.apply(&halves(), 0.1)
}

fn queue(properties: &[(&str, &str)], path: &str) -> Queue {
    applied(properties).unwrap().into_iter().find(|queue| queue.path == path).unwrap()
}

fn refused(properties: &[(&str, &str)]) -> String {
    applied(properties).unwrap_err().to_string()
}

fn near(number: f64, wanted: f64) {
    assert!((number - wanted).abs() < 1e-9, "{number}, not {wanted}");
}

#[test]
fn where_nothing_is_said_queues_are_what_they_were() {
    let masters = |queue: Queue| Queue { master_share: 0.1 * queue.guaranteed, ..queue };
    assert_eq!(applied(&[]).unwrap(), halves().into_iter().map(masters).collect::<Vec<_>>());
}

#[test]
fn guarantees_are_parts_of_the_parents_and_go_down_the_tree() {
    let changed = [("root.a.capacity", "99"), ("root.b.capacity", "1")];
    near(queue(&changed, "root.a").guaranteed, 0.99);
    near(queue(&changed, "root.b.x").guaranteed, 0.005);
    let weights = [("root.b.x.capacity", "3w"), ("root.b.y.capacity", "1w")];
    near(queue(&weights, "root.b.x").guaranteed, 0.375);
    near(queue(&weights, "root.b.y").guaranteed, 0.125);
    near(queue(&weights, "root.a").guaranteed, 0.5);
}

#[test]
fn a_queue_may_be_called_as_what_stands_before_a_knob() {
    let changed = [
        ("root.queues", "a, hiatus"),
        ("root.a.capacity", "40"),
        ("root.hiatus.capacity", "60"),
        ("root.hiatus.maximum-capacity", "70"),
        ("root.hiatus.hiatus.policy", "fifo"),
    ];
    near(queue(&changed, "root.hiatus").guaranteed, 0.6);
    near(queue(&changed, "root.hiatus").maximum, 0.7);
    let of_nobody = refused(&[("root.hiatus.hiatus.policy", "fifo")]);
    assert!(of_nobody.contains("there is no queue root.hiatus;"), "{of_nobody}");
}

#[test]
fn maxima_are_parts_of_the_parents_too() {
    let changed = [("root.b.maximum-capacity", "60"), ("root.b.x.maximum-capacity", "50")];
    near(queue(&changed, "root.b").maximum, 0.6);
    near(queue(&changed, "root.b.x").maximum, 0.3);
    near(queue(&changed, "root.b.y").maximum, 0.3);
    near(queue(&[("root.b.y.maximum-capacity", "-1")], "root.b.y").maximum, 1.0);
}

#[test]
fn queues_come_and_go() {
    let changed = [
        ("root.queues", "b, c"),
        ("root.b.capacity", "70"),
        ("root.c.capacity", "30"),
        ("root.c.queues", "z"),
        ("root.c.z.capacity", "100"),
    ];
    let paths: Vec<_> = applied(&changed).unwrap().into_iter().map(|queue| queue.path).collect();
    assert_eq!(paths, ["root.b", "root.b.x", "root.b.y", "root.c", "root.c.z"]);
    near(queue(&changed, "root.c.z").guaranteed, 0.3);
    near(queue(&changed, "root.b.y").guaranteed, 0.35);
}

#[test]
fn limits_of_users_and_of_masters_are_the_queues_own_or_everybodys() {
    let changed = [
        ("minimum-user-limit-percent", "50"),
        ("root.a.minimum-user-limit-percent", "25"),
        ("root.a.user-limit-factor", "2"),
        ("root.b.x.user-limit-factor", "-1"),
        ("maximum-am-resource-percent", "0.5"),
        ("root.a.maximum-am-resource-percent", "0.2"),
    ];
    let (a, x) = (queue(&changed, "root.a"), queue(&changed, "root.b.x"));
    assert_eq!((a.users.sure, a.users.most), (0.25, 2.0));
    assert_eq!((x.users.sure, x.users.most), (0.5, f64::INFINITY));
    near(a.master_share, 0.1);
    near(x.master_share, 0.125);
}

#[test]
fn disabled_preemption_is_inherited_unless_a_queue_says_otherwise() {
    let of = |properties: &[(&str, &str)], path| {
        let queue = queue(properties, path);
        (queue.preemptable, queue.preemptable_within)
    };
    let all = [("root.b.disable_preemption", "true"), ("root.b.y.disable_preemption", "false")];
    assert_eq!(
        (of(&all, "root.a"), of(&all, "root.b.x"), of(&all, "root.b.y")),
        ((true, true), (false, false), (true, true))
    );
    let within = [
        ("root.intra-queue-preemption.disable_preemption", "true"),
        ("root.a.intra-queue-preemption.disable_preemption", "false"),
    ];
    assert_eq!((of(&within, "root.a"), of(&within, "root.b.x")), ((true, true), (true, false)));
}

#[test]
fn what_capacity_scheduler_refuses_is_refused_with_what_is_wrong() {
    for (properties, wanted) in [
        (&[("root.a.capacity", "99")][..], "root's queues sum to 149 %, and must to 100: root.a 99 %, root.b 50 %"),
        (&[("root.a.capacity", "2w")], "either all of root's queues have weights or none has: root.a 2w, root.b 50 %"),
        (&[("root.a.maximum-capacity", "40")], "root.a is guaranteed 50 % of the cluster, and may grow to 40 % only"),
        (&[("root.aa.capacity", "50")], "there is no queue root.aa; queues: root, root.a, root.b, root.b.x, root.b.y"),
        (&[("root.aa.hiatus.policy", "fifo")], "there is no queue root.aa"),
        (
            &[("root.queues", "a,b,c"), ("root.a.capacity", "50"), ("root.b.capacity", "50")],
            "root.c.capacity: must be set",
        ),
    ] {
        let said = refused(properties);
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn a_value_that_makes_no_sense_is_refused_with_its_key() {
    for property in HONOURED {
        let (key, value) = (format!("root.a.{property}"), if property == "queues" { "x,,y" } else { "nonsense" });
        let said = refused(&[(&key, value)]);
        assert!(said.starts_with(&format!("yarn.scheduler.capacity.{key} = \"{value}\": must be ")), "{said}");
    }
    for (key, value) in [
        ("root.a.capacity", "101"),
        ("root.a.capacity", "[memory=1024]"),
        ("root.a.capacity", "-3w"),
        ("root.a.user-limit-factor", "-2"),
    ] {
        assert!(refused(&[(key, value)]).contains(key), "{key} = {value}");
    }
}

#[test]
fn the_table_for_administrators_says_which_are_honoured() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md")).unwrap();
    let (_, table) = text.split_once("<!-- queue properties -->").unwrap();
    let (table, _) = table.split_once("<!-- end of queue properties -->").unwrap();
    let cells =
        table.lines().filter_map(|line| line.strip_prefix("| `")).map(|row| row.split(" | ").collect::<Vec<_>>());
    let mut said: Vec<_> =
        cells.filter(|cells| cells[2] == "yes").map(|cells| cells[0].trim_end_matches('`').to_owned()).collect();
    let mut honoured = HONOURED.map(str::to_owned).to_vec();
    said.sort();
    honoured.sort();
    assert_eq!(said, honoured);
}

#[test]
fn what_is_not_honoured_is_refused_by_name() {
    for key in [
        "foo",
        "yarn.nodemanager.resource.memory-mb",
        "yarn.scheduler.capacity.node-locality-delay",
        "yarn.scheduler.capacity.root.a.state",
        "yarn.scheduler.capacity.root.a.accessible-node-labels.gpu.capacity",
        "yarn.scheduler.capacity.root.a.leaf-queue-template.capacity",
        "yarn.scheduler.capacity.a.capacity",
    ] {
        let said = split(&[(key.to_owned(), "1".to_owned())]).unwrap_err().to_string();
        assert!(said.starts_with(&format!("{key}: simulations honour no such property")), "{said}");
    }
    let of_rm = "yarn.scheduler.hiatus.rm.report-port";
    let said = split(&[(of_rm.to_owned(), "1".to_owned())]).unwrap_err().to_string();
    assert_eq!(said, format!("{of_rm}: is the ResourceManager's, and does nothing in a simulation"));
}
