// Package usage has the error of a command line that cannot be understood: the program prints it
// with a hint at the help of the verb.
package usage
