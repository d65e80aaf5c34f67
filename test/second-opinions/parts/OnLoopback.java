import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;

/** Runs DynamoDB Local on the loopback interface alone; it has no option for that, and listens on every address. */
public class OnLoopback {
  public static void main(String[] arguments) throws Exception {
    var proxy = ServerRunner.createServerFromCommandLineArgs(arguments);
    var field = proxy.getClass().getDeclaredField("server");
    field.setAccessible(true);
    for (Connector connector : ((Server) field.get(proxy)).getConnectors()) {
      ((ServerConnector) connector).setHost("127.0.0.1");
    }
    proxy.start();
    proxy.join();
  }
}
