"""Jupyter's own tests of a kernel, and its clients, against the kernel "toy"."""
import os
import time
import unittest

import jupyter_client
import jupyter_kernel_test
import nbclient
import nbformat


class Toy(jupyter_kernel_test.KernelTests):
    kernel_name = "toy"
    language_name = "go"
    file_extension = ".go"
    code_hello_world = "print hello, world"
    code_stderr = "warn oops"
    completion_samples = [{"text": "a pri", "matches": {"pri!"}}]
    complete_code_samples = ["print a"]
    incomplete_code_samples = ["open"]
    invalid_code_samples = ["wrong"]
    code_generate_error = "fail on purpose"
    code_execute_result = [{"code": "value 6", "result": "6"}, {"code": "value 3", "result": "3"}]
    code_display_data = [{"code": "picture p", "mime": "image/png"}]
    code_history_pattern = "value 6*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "print"
    code_clear_output = "clear"


class Welcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = "toy"
    support_iopub_welcome = True


def notebook(*cells):
    return nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(c) for c in cells], metadata={"kernelspec": {"name": "toy", "display_name": "toy", "language": "go"}}
    )


class Clients(unittest.TestCase):
    def test_ready_and_gone(self):
        start = time.time()
        km, kc = jupyter_client.manager.start_new_kernel(kernel_name="toy")
        print(f"ready in {time.time() - start:.2f} s")
        pid = km.provisioner.process.pid
        start = time.time()
        kc.stop_channels()
        km.shutdown_kernel()
        print(f"gone in {time.time() - start:.2f} s")
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    def test_restart(self):
        km, kc = jupyter_client.manager.start_new_kernel(kernel_name="toy")
        for now in (False, True):
            kc.execute("wait")
            km.restart_kernel(now=now)
            kc.wait_for_ready(timeout=20)
            self.assertEqual(kc.execute_interactive("print a", timeout=20)["content"]["execution_count"], 1)
        kc.stop_channels()
        km.shutdown_kernel()

    def test_interrupt(self):
        km, kc = jupyter_client.manager.start_new_kernel(kernel_name="toy")
        message = kc.execute("wait")
        time.sleep(0.3)
        km.interrupt_kernel()
        reply = kc.get_shell_msg(timeout=20)
        while reply["parent_header"]["msg_id"] != message:
            reply = kc.get_shell_msg(timeout=20)
        self.assertEqual(reply["content"]["ename"], "Interrupted")
        kc.stop_channels()
        km.shutdown_kernel()

    def test_notebook(self):
        nb = notebook("print a\nvalue 5", "fail x", "ask who", "picture p\nupdate p", "flood 30000")
        nbclient.NotebookClient(nb, kernel_name="toy", allow_errors=True, timeout=60).execute()
        outputs = [c.outputs for c in nb.cells]
        self.assertEqual([o.output_type for o in outputs[0]], ["stream", "execute_result"])
        self.assertEqual(outputs[1][0].ename, "Failure")
        self.assertEqual(outputs[2][0].text, "EOF\n")
        self.assertEqual(outputs[3][0].data, {"text/plain": "new"})
        self.assertEqual("".join(o.text for o in outputs[4]).count("\n"), 30000)

    def test_timeout_of_a_cell(self):
        nb = notebook("wait", "print b")
        nbclient.NotebookClient(nb, kernel_name="toy", allow_errors=True, timeout=1, interrupt_on_timeout=True).execute()
        self.assertEqual(nb.cells[0].outputs[0].ename, "Interrupted")
        self.assertEqual(nb.cells[1].outputs[0].text, "b\n")


unittest.main()
