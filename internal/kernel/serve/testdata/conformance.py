"""Jupyter's own tests of a kernel, and its clients, against an installed kernel.

KERNEL names it: "toy", of this package's tests, or "parallelcl".
"""
import os
import time
import unittest

import jupyter_client
import jupyter_kernel_test
import nbclient
import nbformat


KERNEL = os.environ.get("KERNEL", "parallelcl")
TOY = KERNEL == "toy"

# The same cells in the language of either kernel.
PRINT, WARN, FAIL, SHOW = ("print {}", "warn {}", "fail {}", "picture p") if TOY else (
    'fmt.Println("{}")', 'fmt.Fprintln(os.Stderr, "{}")', 'panic("{}")', 'gonbui.DisplayHTML("<b>x</b>")')
VALUE, WAIT, ASK = ("value {}", "wait", "ask who") if TOY else (
    "2 * {} / 2", "select {}", "var who string\n_, err := fmt.Scanln(&who)\nfmt.Println(err)")
FLOOD = "flood 30000" if TOY else 'for i := range 30000 {\n\tfmt.Println("line", i)\n}'


class Conformance(jupyter_kernel_test.KernelTests):
    kernel_name = KERNEL
    language_name = "go"
    file_extension = ".go"
    code_hello_world = PRINT.format("hello, world")
    code_stderr = WARN.format("oops")
    completion_samples = [{"text": "a pri", "matches": {"pri!"}}] if TOY else [{"text": "fmt.Printl", "matches": {"Println"}}]
    complete_code_samples = ["x := 1", "func f() {}"]
    incomplete_code_samples = ["func f() {", "for {"]
    invalid_code_samples = ["x := )"]
    code_generate_error = FAIL.format("on purpose")
    code_execute_result = [{"code": VALUE.format(n), "result": n} for n in "63"]
    code_display_data = [{"code": SHOW, "mime": "image/png" if TOY else "text/html"}]
    supported_history_operations = ("tail",)
    code_inspect_sample = "print" if TOY else "fmt.Println"


class Welcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = KERNEL
    support_iopub_welcome = True


def notebook(*cells):
    return nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(c) for c in cells], metadata={"kernelspec": {"name": KERNEL, "display_name": KERNEL, "language": "go"}}
    )


class Clients(unittest.TestCase):
    def test_ready_and_gone(self):
        start = time.time()
        km, kc = jupyter_client.manager.start_new_kernel(kernel_name=KERNEL)
        print(f"ready in {time.time() - start:.2f} s")
        pid = km.provisioner.process.pid
        start = time.time()
        kc.stop_channels()
        km.shutdown_kernel()
        print(f"gone in {time.time() - start:.2f} s")
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    def test_restart(self):
        km, kc = jupyter_client.manager.start_new_kernel(kernel_name=KERNEL)
        for now in (False, True):
            kc.execute(WAIT)
            km.restart_kernel(now=now)
            kc.wait_for_ready(timeout=20)
            self.assertEqual(kc.execute_interactive(PRINT.format("a"), timeout=20)["content"]["execution_count"], 1)
        kc.stop_channels()
        km.shutdown_kernel()

    def test_interrupt(self):
        km, kc = jupyter_client.manager.start_new_kernel(kernel_name=KERNEL)
        message = kc.execute(WAIT)
        time.sleep(0.3)
        km.interrupt_kernel()
        reply = kc.get_shell_msg(timeout=20)
        while reply["parent_header"]["msg_id"] != message:
            reply = kc.get_shell_msg(timeout=20)
        self.assertEqual(reply["content"]["status"], "error")
        kc.stop_channels()
        km.shutdown_kernel()

    def test_notebook(self):
        nb = notebook(PRINT.format("a") + "\n" + VALUE.format("5"), FAIL.format("x"), ASK, SHOW, FLOOD)
        nbclient.NotebookClient(nb, kernel_name=KERNEL, allow_errors=True, timeout=60).execute()
        outputs = [c.outputs for c in nb.cells]
        self.assertEqual([o.output_type for o in outputs[0]], ["stream", "execute_result"])
        self.assertEqual(outputs[1][0].output_type, "error")
        self.assertEqual(outputs[2][0].text, "EOF\n")
        self.assertEqual(outputs[3][0].output_type, "display_data")
        self.assertEqual("".join(o.text for o in outputs[4]).count("\n"), 30000)

    def test_timeout_of_a_cell(self):
        nb = notebook(WAIT, PRINT.format("b"))
        nbclient.NotebookClient(nb, kernel_name=KERNEL, allow_errors=True, timeout=1 if TOY else 10, interrupt_on_timeout=True).execute()
        self.assertEqual(nb.cells[0].outputs[0].output_type, "error")
        self.assertEqual(nb.cells[1].outputs[0].text, "b\n")


unittest.main()
