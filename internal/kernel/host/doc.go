// Command host is the process in which the cells of a notebook run. The kernel builds it with a further file, which imports
// every package that cells can import, so that all cells share them. It reads requests on file 3 and answers on file 4.
package main
