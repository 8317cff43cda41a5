// Package ask holds what find is asked and what it answers. A client needs these types but not the
// projections that the answer is computed from, so this package imports none of them: a program that
// asks a server stays small (decision 108). Package commands has them under the same names.
package ask
