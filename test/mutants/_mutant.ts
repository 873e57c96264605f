/** A fault that is planted in a source file to see that tests notice it. */
export interface Mutant {
  /** What is wrong then, as somebody would notice it. */
  fault: string;
  file: string;
  /** A text that the file has once, and what it becomes. */
  from: string;
  to: string;
  /** Test files of which one fails then: the quickest that know the rule. */
  tests: readonly string[];
}
