package org.apache.pig.org.roaringbitmap;

/**
 * Stands in for a class that Pig 0.18.0's own build puts into its jar, and the jar of Maven Central lacks: at each submission Pig looks up
 * where it comes from. Only Bloom joins use it; they fail.
 */
public final class RoaringBitmap { }
