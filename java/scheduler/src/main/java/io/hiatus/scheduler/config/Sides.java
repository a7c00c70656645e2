package io.hiatus.scheduler.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.NodeAttribute;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/**
 * Which nodes are on which side of a mixed cluster, as the administrator says it: by node labels ({@code label:NAME}) or by node
 * attributes ({@code attribute:NAME=VALUE}).
 */
public final class Sides {
  /** On neither side; and the flags of a node's record for both. */
  public static final int NONE = 0;
  static final int PHYSICAL = 8;
  static final int VIRTUAL = 16;

  private static final String LABEL = "label:";
  private static final String ATTRIBUTE = "attribute:";

  private final List<String> physical;
  private final List<String> virtual;

  /** @throws IllegalArgumentException for a word that is neither a label nor an attribute, with its property */
  public Sides(HiatusConfiguration conf) {
    physical = read(HiatusConfiguration.PHYSICAL_NODES, conf.physicalNodes());
    virtual = read(HiatusConfiguration.VIRTUAL_NODES, conf.virtualNodes());
  }

  private static List<String> read(String key, List<String> words) {
    List<String> understood = new ArrayList<>();
    for (String word : words) {
      boolean label = word.startsWith(LABEL) && word.length() > LABEL.length();
      boolean attribute = word.startsWith(ATTRIBUTE) && word.indexOf('=') > ATTRIBUTE.length();
      if (!label && !attribute) {
        throw new IllegalArgumentException(key + " = \"" + word
            + "\": must be label:NAME or attribute:NAME=VALUE, several with commas between them" + HiatusConfiguration.KEPT);
      }
      understood.add(word);
    }
    return understood;
  }

  /** The side of a node, as the flag of its record; physical if it is said to be on both. */
  public int of(FiCaSchedulerNode node) {
    if (physical.isEmpty() && virtual.isEmpty()) {
      return NONE;
    }
    if (physical.stream().anyMatch(word -> matches(word, node))) {
      return PHYSICAL;
    }
    return virtual.stream().anyMatch(word -> matches(word, node)) ? VIRTUAL : NONE;
  }

  private static boolean matches(String word, FiCaSchedulerNode node) {
    if (word.startsWith(LABEL)) {
      return word.substring(LABEL.length()).equals(node.getPartition());
    }
    Set<NodeAttribute> attributes = node.getNodeAttributes();
    String pair = word.substring(ATTRIBUTE.length());
    return attributes != null && attributes.stream()
        .anyMatch(one -> pair.equals(one.getAttributeKey().getAttributeName() + "=" + one.getAttributeValue()));
  }
}
